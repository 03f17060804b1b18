/* SPDX-License-Identifier: Apache-2.0 */
/* Both jobs of Stowplan from C.
 *
 *     embed_c                  your own buffers in, offsets out
 *     embed_c FILE [TARGET]    a module in, a checked plan and its page (view.html) out
 *
 * Exits with 2 if something is wrong with the input.
 */
#include <inttypes.h>
#include <stdio.h>

#include "stowplan/stowplan_c.h"

/* Prints the messages and frees them. */
static int Fail(stowplan_messages* errors) {
  fputs(stowplan_messages_text(errors), stderr);
  stowplan_messages_free(errors);
  return 2;
}

/* A limit for a search: the number of times that it may still ask. A real one looks at a clock. */
static int ShouldStop(void* left) { return --*(int*)left < 0; }

static int PackBuffers(void) {
  stowplan_problem* problem = stowplan_problem_new();
  stowplan_solve_options* options = stowplan_solve_options_new();
  stowplan_answer* answer = NULL;
  stowplan_messages* errors = NULL;
  uint32_t weights = 0;
  uint32_t same_place[2] = {0, 0};
  int left = 1000;
  int code = 0;
  stowplan_status status;

  /* Size, life [start, end), alignment, a name for messages; the last is its number. What goes
   * wrong in these (no memory) leaves something out. A real program looks at their statuses. */
  stowplan_problem_add_buffer(problem, 65536, 0, 6, 4096, "weights", &weights);
  stowplan_problem_add_buffer(problem, 16384, 0, 2, 64, "input", NULL);
  stowplan_problem_add_buffer(problem, 32768, 1, 4, 64, "hidden", NULL);
  stowplan_problem_add_buffer(problem, 8192, 4, 6, 64, "sum", &same_place[0]);
  stowplan_problem_add_buffer(problem, 8192, 5, 6, 64, "output", &same_place[1]);
  stowplan_problem_pin(problem, weights, 4096);
  stowplan_problem_alias(problem, same_place, 2);
  stowplan_solve_options_set_should_stop(options, ShouldStop, &left);

  status = stowplan_solve(problem, options, &answer, &errors);
  if (status == STOWPLAN_OK) {
    const int64_t* offsets = stowplan_answer_offsets(answer);
    size_t k;
    printf("%" PRId64 " bytes, and no plan takes less than %" PRId64 "\n",
           stowplan_answer_height(answer), stowplan_answer_bound(answer));
    for (k = 0; k < stowplan_answer_count(answer); ++k)
      printf("  buffer %u at %" PRId64 "\n", (unsigned)k, offsets[k]);
    stowplan_answer_free(answer);

    /* A problem that makes no sense is an error that names the buffer. */
    stowplan_problem_pin(problem, same_place[0], 100);
    status = stowplan_solve(problem, options, &answer, &errors);
  }
  if (status == STOWPLAN_FAILED) {
    printf("as expected: %s", stowplan_messages_text(errors));
    stowplan_messages_free(errors);
  } else if (status != STOWPLAN_OK) {
    code = Fail(errors);
  }
  stowplan_answer_free(answer);
  stowplan_solve_options_free(options);
  stowplan_problem_free(problem);
  return code;
}

static void Print(const stowplan_plan* plan, const char* policy) {
  static const char* const kVerdicts[] = {"unchecked", "sound", "unsound"};
  size_t k;
  printf("%s, policy %s: %s\n", stowplan_plan_name(plan), policy,
         kVerdicts[stowplan_plan_soundness(plan)]);
  for (k = 0; k < stowplan_plan_space_count(plan); ++k) {
    stowplan_space space = {sizeof(space), 0, 0, 0, 0};
    stowplan_plan_get_space(plan, k, &space);
    printf("  %" PRId64 " bytes in memory space %" PRId64 "\n", space.bytes, space.color);
  }
}

static int WriteFile(const char* name, const char* text, size_t size) {
  FILE* file = fopen(name, "wb");
  if (file == NULL || fwrite(text, 1, size, file) != size) {
    fprintf(stderr, "%s cannot be written\n", name);
    if (file != NULL) fclose(file);
    return 2;
  }
  printf("wrote %s\n", name);
  return fclose(file) == 0 ? 0 : 2;
}

/* Writes the page with both plans, and the reports of the second. */
static int Write(const stowplan_plan* xla, const stowplan_plan* best) {
  const stowplan_plan* plans[2];
  stowplan_messages* errors = NULL;
  stowplan_reports* reports = NULL;
  char* page = NULL;
  size_t size = 0;
  size_t k;
  int code;
  plans[0] = xla;
  plans[1] = best;
  if (stowplan_plan_html(plans, 2, &page, &size, &errors) != STOWPLAN_OK) return Fail(errors);
  code = WriteFile("view.html", page, size);
  stowplan_free(page);
  if (stowplan_plan_reports(best, &reports, &errors) != STOWPLAN_OK) return Fail(errors);
  for (k = 0; code == 0 && k < stowplan_reports_count(reports); ++k) {
    const char* text = stowplan_reports_text(reports, k, &size);
    code = WriteFile(stowplan_reports_name(reports, k), text, size);
  }
  stowplan_reports_free(reports);
  return code;
}

static int PlanModule(const char* path, const char* target) {
  stowplan_plan_options* options = stowplan_plan_options_new();
  stowplan_inputs* inputs = NULL;
  stowplan_plan* xla = NULL;
  stowplan_plan* best = NULL;
  stowplan_messages* errors = NULL;
  int code = 0;
  stowplan_plan_options_set_target(options, target);
  stowplan_plan_options_set_policy(options, STOWPLAN_POLICY_BEST);
  /* Each step has what it needs from the step before, or fails. */
  if (stowplan_inputs_open(&path, 1, &inputs, &errors) != STOWPLAN_OK ||
      stowplan_plan_load(inputs, options, &xla, &errors) != STOWPLAN_OK ||
      stowplan_plan_make(xla, options, &best, &errors) != STOWPLAN_OK) {
    code = Fail(errors);
  } else {
    Print(xla, "xla");
    Print(best, "best");
    code = Write(xla, best);
  }
  stowplan_plan_free(best);
  stowplan_plan_free(xla);
  stowplan_inputs_free(inputs);
  stowplan_plan_options_free(options);
  return code;
}

int main(int argc, char** argv) {
  if (argc > 3) {
    fputs("usage: embed_c [FILE [TARGET]]\n", stderr);
    return 2;
  }
  if (argc == 1) return PackBuffers();
  return PlanModule(argv[1], argc == 3 ? argv[2] : NULL);
}
