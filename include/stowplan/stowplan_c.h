/* SPDX-License-Identifier: Apache-2.0 */
/* Stowplan for C, and for any language that can call C. There are two jobs.
 *
 * Your own buffers in, offsets out:
 *
 *     stowplan_problem* problem = stowplan_problem_new();
 *     stowplan_problem_add_buffer(problem, 4096, 0, 3, 64, "a", NULL);
 *     stowplan_problem_add_buffer(problem, 1024, 2, 5, 64, "b", NULL);
 *     stowplan_answer* answer;
 *     stowplan_messages* errors;
 *     if (stowplan_solve(problem, NULL, &answer, &errors) != STOWPLAN_OK)
 *       fputs(stowplan_messages_text(errors), stderr);
 *     const int64_t* offsets = stowplan_answer_offsets(answer);
 *
 * A module in, a checked plan out:
 *
 *     stowplan_inputs* inputs;
 *     stowplan_plan* plan;
 *     if (stowplan_inputs_open(&path, 1, &inputs, &errors) == STOWPLAN_OK &&
 *         stowplan_plan_load(inputs, NULL, &plan, &errors) == STOWPLAN_OK)
 *       puts(stowplan_plan_soundness(plan) == STOWPLAN_SOUND ? "sound" : "not sound");
 *
 * Ownership. What a function hands out through a `T**` belongs to the caller, who frees it with
 * stowplan_T_free; a `char**` is freed with stowplan_free. What a function returns as a `const`
 * pointer belongs to the handle that it was asked of and lives as long as that. What the caller
 * passes in is copied. Every _free takes NULL. Handles do not refer to each other: they may be
 * freed in any order.
 *
 * Errors. A function that can fail returns a stowplan_status. Where it also takes an
 * `errors`, that becomes NULL, or messages that the caller frees; it may be NULL itself. After a
 * failure the other results are NULL or 0. Functions that only read return 0 or NULL for a NULL
 * handle or a number out of range. No exception leaves a function; nothing prints, exits, or reads
 * the environment.
 *
 * Threads. Functions may be called by several threads at once, on different handles or on the same
 * `const` one, with one exception: stowplan_inputs belongs to one thread at a time. A handle must
 * not be changed or freed while another thread uses it.
 *
 * Callbacks must return: they must neither throw nor longjmp.
 *
 * ABI. Handles are opaque. Structs that the caller provides begin with `size`, which the caller
 * sets to sizeof the struct: a newer library may know more fields. Enumerators keep their values;
 * new ones may be added. Functions are added, not changed; if that must happen, the number in the
 * name of the shared library does too.
 */
#ifndef STOWPLAN_STOWPLAN_C_H_
#define STOWPLAN_STOWPLAN_C_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STOWPLAN_C_EXPORT __attribute__((visibility("default")))
#else
#define STOWPLAN_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions */

/* Grows with every function, field or enumerator that is added here. */
#define STOWPLAN_C_VERSION 1
/* The same, of the library that is loaded. */
STOWPLAN_C_EXPORT int stowplan_c_version(void);
/* Of Stowplan: "0.1.0". */
STOWPLAN_C_EXPORT const char* stowplan_version(void);

/* ---- Errors */

typedef enum stowplan_status {
  STOWPLAN_OK = 0,
  STOWPLAN_FAILED = 1,    /* the input is wrong, or the plan is refused; the messages say why */
  STOWPLAN_MISUSE = 2,    /* an argument is NULL or out of range: an error of the caller */
  STOWPLAN_NO_MEMORY = 3, /* the handles that were passed in are as they were */
  STOWPLAN_INTERNAL = 4   /* an error of Stowplan */
} stowplan_status;

typedef enum stowplan_severity {
  STOWPLAN_ERROR = 0,
  STOWPLAN_WARNING = 1,
  STOWPLAN_NOTE = 2
} stowplan_severity;

typedef struct stowplan_messages stowplan_messages;

typedef struct stowplan_message {
  size_t size;
  stowplan_severity severity;
  uint32_t line;   /* from 1; 0: the message has no place in a text */
  uint32_t column; /* from 1, in bytes */
  const char* file;
  const char* text;
  const char* hint; /* what would help; may be empty */
} stowplan_message;

/* All of them for people: `file:line:column: error: ...`, the line, a caret, the hint. */
STOWPLAN_C_EXPORT const char* stowplan_messages_text(const stowplan_messages* messages);
STOWPLAN_C_EXPORT size_t stowplan_messages_count(const stowplan_messages* messages);
STOWPLAN_C_EXPORT stowplan_status stowplan_messages_get(const stowplan_messages* messages, size_t k,
                                                        stowplan_message* message);
STOWPLAN_C_EXPORT void stowplan_messages_free(stowplan_messages* messages);

/* Frees the text that a function hands out through a `char**`. */
STOWPLAN_C_EXPORT void stowplan_free(char* text);

/* Called from time to time during a search; nonzero ends it with the best plan so far. With several
 * threads, any of them calls it, several at once too. */
typedef int (*stowplan_should_stop)(void* user);

/* ---- Your own buffers in, offsets out
 *
 * Buffers and pools are known by their numbers, from 0 in the order in which they are added. The
 * functions below only note what they are told, in any order. stowplan_solve finds what makes no
 * sense.
 */

typedef struct stowplan_problem stowplan_problem;

/* NULL: no memory. */
STOWPLAN_C_EXPORT stowplan_problem* stowplan_problem_new(void);
STOWPLAN_C_EXPORT void stowplan_problem_free(stowplan_problem* problem);

/* A buffer of `size` bytes that is alive in [start, end). Its offset will be a multiple of
 * `alignment`, which need not be a power of two. `name` is for messages and may be NULL, and so may
 * `buffer`, which gets its number. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_add_buffer(stowplan_problem* problem,
                                                              int64_t size, int64_t start,
                                                              int64_t end, int64_t alignment,
                                                              const char* name, uint32_t* buffer);
/* Within [start, end), the buffer needs only its bytes [low, high); none if these are equal. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_add_gap(stowplan_problem* problem,
                                                           uint32_t buffer, int64_t start,
                                                           int64_t end, int64_t low, int64_t high);
/* The buffer must lie at `offset`. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_pin(stowplan_problem* problem, uint32_t buffer,
                                                       int64_t offset);
/* The buffer might lie at `offset`: a plan to start from, or a part of one. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_hint(stowplan_problem* problem, uint32_t buffer,
                                                        int64_t offset);
/* The buffers share one place, even while several of them are alive. A buffer has aliases once. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_alias(stowplan_problem* problem,
                                                         const uint32_t* buffers, size_t count);
/* The two share no byte, whenever they are alive. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_keep_apart(stowplan_problem* problem,
                                                              uint32_t first, uint32_t second);
/* A memory of its own, with offsets from 0 on. What does not fit spills to the next pool. Without
 * pools there is one memory, as large as needed. `pool` may be NULL. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_add_pool(stowplan_problem* problem,
                                                            const char* name, int64_t capacity,
                                                            uint32_t* pool);
/* The pools that the buffer may be in, the preferred one first. Others may be in any. */
STOWPLAN_C_EXPORT stowplan_status stowplan_problem_choose_pools(stowplan_problem* problem,
                                                                uint32_t buffer,
                                                                const uint32_t* pools,
                                                                size_t count);

typedef struct stowplan_solve_options stowplan_solve_options;

/* NULL: no memory. */
STOWPLAN_C_EXPORT stowplan_solve_options* stowplan_solve_options_new(void);
STOWPLAN_C_EXPORT void stowplan_solve_options_free(stowplan_solve_options* options);
/* Stop at the first plan that fits; negative: search for the lowest. */
STOWPLAN_C_EXPORT stowplan_status
stowplan_solve_options_set_capacity(stowplan_solve_options* options, int64_t bytes);
/* How much to search: nodes of the exact search. */
STOWPLAN_C_EXPORT stowplan_status stowplan_solve_options_set_effort(stowplan_solve_options* options,
                                                                    int64_t nodes);
STOWPLAN_C_EXPORT stowplan_status
stowplan_solve_options_set_threads(stowplan_solve_options* options, int threads);
STOWPLAN_C_EXPORT stowplan_status stowplan_solve_options_set_seed(stowplan_solve_options* options,
                                                                  uint64_t seed);
/* Without one, the answer depends only on the problem and the other options, apart from `threads`;
 * NULL: none. */
STOWPLAN_C_EXPORT stowplan_status stowplan_solve_options_set_should_stop(
    stowplan_solve_options* options, stowplan_should_stop should_stop, void* user);

typedef enum stowplan_answer_status {
  STOWPLAN_UNDECIDED = 0, /* neither a plan within the capacity nor a proof */
  STOWPLAN_OPTIMAL = 1,   /* no plan is lower */
  STOWPLAN_FEASIBLE = 2,  /* lower ones may exist, down to the bound */
  STOWPLAN_INFEASIBLE = 3 /* proved: no plan fits the capacity */
} stowplan_answer_status;

typedef struct stowplan_answer stowplan_answer;

/* Fails if the problem or the options make no sense. That nothing fits is no failure: the answer's
 * status tells. `options` may be NULL. */
STOWPLAN_C_EXPORT stowplan_status stowplan_solve(const stowplan_problem* problem,
                                                 const stowplan_solve_options* options,
                                                 stowplan_answer** answer,
                                                 stowplan_messages** errors);
STOWPLAN_C_EXPORT void stowplan_answer_free(stowplan_answer* answer);
STOWPLAN_C_EXPORT stowplan_answer_status stowplan_answer_get_status(const stowplan_answer* answer);
/* The number of offsets: one for each buffer, or none if no plan fits the pools. */
STOWPLAN_C_EXPORT size_t stowplan_answer_count(const stowplan_answer* answer);
STOWPLAN_C_EXPORT const int64_t* stowplan_answer_offsets(const stowplan_answer* answer);
/* The pool of each buffer; NULL without pools. */
STOWPLAN_C_EXPORT const uint32_t* stowplan_answer_pools(const stowplan_answer* answer);
/* The end of the highest buffer; with pools, of the last pool. */
STOWPLAN_C_EXPORT int64_t stowplan_answer_height(const stowplan_answer* answer);
/* No plan is lower than this. */
STOWPLAN_C_EXPORT int64_t stowplan_answer_bound(const stowplan_answer* answer);
/* The most bytes that are needed at one moment, and the first such moment. */
STOWPLAN_C_EXPORT int64_t stowplan_answer_load(const stowplan_answer* answer);
STOWPLAN_C_EXPORT int64_t stowplan_answer_load_time(const stowplan_answer* answer);

/* ---- A module in, a checked plan out: what to read */

typedef struct stowplan_inputs stowplan_inputs;

/* Each path is a file, a dump directory, or "-" for standard input. Files that belong to one module
 * become one. Fails if there is nothing at a path. */
STOWPLAN_C_EXPORT stowplan_status stowplan_inputs_open(const char* const* paths, size_t count,
                                                       stowplan_inputs** inputs,
                                                       stowplan_messages** errors);
/* One module or report, text or proto, packed or not. `name` is for messages. */
STOWPLAN_C_EXPORT stowplan_status stowplan_inputs_open_bytes(const char* name, const void* bytes,
                                                             size_t size, stowplan_inputs** inputs,
                                                             stowplan_messages** errors);
STOWPLAN_C_EXPORT void stowplan_inputs_free(stowplan_inputs* inputs);
/* The modules: those with a plan, then those of directories that have none. */
STOWPLAN_C_EXPORT size_t stowplan_inputs_count(const stowplan_inputs* inputs);
STOWPLAN_C_EXPORT const char* stowplan_inputs_name(const stowplan_inputs* inputs, size_t k);

/* ---- How to plan. A string may be NULL, which means the same as an empty one. */

typedef struct stowplan_plan_options stowplan_plan_options;

typedef enum stowplan_policy {
  STOWPLAN_POLICY_XLA = 0, /* as XLA does */
  STOWPLAN_POLICY_BEST = 1 /* as low as possible */
} stowplan_policy;

/* NULL: no memory. */
STOWPLAN_C_EXPORT stowplan_plan_options* stowplan_plan_options_new(void);
STOWPLAN_C_EXPORT void stowplan_plan_options_free(stowplan_plan_options* options);
/* Of several modules, the one with this name; empty: the largest. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_options_set_module(stowplan_plan_options* options,
                                                                   const char* name);
/* "cpu", "gpu", "tpu-v5e", ...; empty: found. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_options_set_target(stowplan_plan_options* options,
                                                                   const char* target);
/* Of XLA: "jaxlib-0.11.2", "libtpu-0.0.51", ...; empty: found. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_options_set_release(stowplan_plan_options* options,
                                                                    const char* release);
/* The order of execution; empty: the module's, or the one of least peak. */
STOWPLAN_C_EXPORT stowplan_status
stowplan_plan_options_set_scheduler(stowplan_plan_options* options, const char* scheduler);
/* A file with XLA's places in a TPU's fast memory. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_options_set_preset(stowplan_plan_options* options,
                                                                   const char* path);
/* A stowplan_policy. For stowplan_plan_make; stowplan_plan_load plans as XLA does. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_options_set_policy(stowplan_plan_options* options,
                                                                   int policy);
/* Hand out a plan that is not sound, or that could not be checked, all the same. */
STOWPLAN_C_EXPORT stowplan_status
stowplan_plan_options_set_allow_unsound(stowplan_plan_options* options, int allow);
STOWPLAN_C_EXPORT stowplan_status
stowplan_plan_options_set_allow_unchecked(stowplan_plan_options* options, int allow);
/* No heap grows beyond this; a further one is opened. Negative: no limit. */
STOWPLAN_C_EXPORT stowplan_status
stowplan_plan_options_set_heap_limit(stowplan_plan_options* options, int64_t bytes);
/* Policy best: what memory space 0 should fit into; negative: nothing. */
STOWPLAN_C_EXPORT stowplan_status
stowplan_plan_options_set_memory_limit(stowplan_plan_options* options, int64_t bytes);
/* Policy best: search until `should_stop` or a proof, not until the search has cost enough. */
STOWPLAN_C_EXPORT stowplan_status
stowplan_plan_options_set_searches_on(stowplan_plan_options* options, int searches_on);
/* Policy best; NULL: none. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_options_set_should_stop(
    stowplan_plan_options* options, stowplan_should_stop should_stop, void* user);

/* ---- Plans. They never change. Options may be NULL. */

typedef struct stowplan_plan stowplan_plan;

/* The plan of the module that the options name, else of the largest: as the files hold it, which is
 * not checked; else made as XLA does, and checked. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_load(const stowplan_inputs* inputs,
                                                     const stowplan_plan_options* options,
                                                     stowplan_plan** plan,
                                                     stowplan_messages** errors);
/* A new plan for the module of `old`, by the policy of the options, and checked. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_make(const stowplan_plan* old,
                                                     const stowplan_plan_options* options,
                                                     stowplan_plan** plan,
                                                     stowplan_messages** errors);
/* The same plan with its verdict. Fails if there is nothing to check; that the plan is unsound is
 * no failure. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_check(const stowplan_plan* old,
                                                      const stowplan_plan_options* options,
                                                      stowplan_plan** plan,
                                                      stowplan_messages** errors);
STOWPLAN_C_EXPORT void stowplan_plan_free(stowplan_plan* plan);

STOWPLAN_C_EXPORT const char* stowplan_plan_name(const stowplan_plan* plan);
/* "cpu", ...; empty: not known. */
STOWPLAN_C_EXPORT const char* stowplan_plan_target(const stowplan_plan* plan);
/* Of XLA, by whose rules the plan was made; empty: it was given. */
STOWPLAN_C_EXPORT const char* stowplan_plan_release(const stowplan_plan* plan);
/* What to know about the plan: notes and warnings. May have none. */
STOWPLAN_C_EXPORT const stowplan_messages* stowplan_plan_notes(const stowplan_plan* plan);

typedef enum stowplan_origin {
  STOWPLAN_ORIGIN_GIVEN = 0, /* an input holds it */
  STOWPLAN_ORIGIN_XLA = 1,   /* Stowplan made it, as XLA does */
  STOWPLAN_ORIGIN_BEST = 2   /* Stowplan made it, as low as it could */
} stowplan_origin;
STOWPLAN_C_EXPORT stowplan_origin stowplan_plan_origin(const stowplan_plan* plan);

/* Whether every read of the program gets the bytes that the program means. */
typedef enum stowplan_soundness {
  STOWPLAN_UNCHECKED = 0,
  STOWPLAN_SOUND = 1,
  STOWPLAN_UNSOUND = 2
} stowplan_soundness;
STOWPLAN_C_EXPORT stowplan_soundness stowplan_plan_soundness(const stowplan_plan* plan);
/* Why it is unchecked; else empty. */
STOWPLAN_C_EXPORT const char* stowplan_plan_unchecked_reason(const stowplan_plan* plan);
/* What is wrong, the unsound first. A sound plan can have findings too: a report that contradicts
 * itself or the program. */
STOWPLAN_C_EXPORT size_t stowplan_plan_finding_count(const stowplan_plan* plan);
STOWPLAN_C_EXPORT const char* stowplan_plan_finding(const stowplan_plan* plan, size_t k);

typedef struct stowplan_space {
  size_t size;
  int64_t color;           /* the number of the memory space */
  int64_t bytes;           /* of all allocations in it */
  int64_t temporary_bytes; /* of these, in temporaries */
  int64_t peak_bytes;      /* the most that is alive at once; -1: not known */
} stowplan_space;
/* Memory spaces by color. None if the plan has no allocations, or if their sum does not fit in 64
 * bits. */
STOWPLAN_C_EXPORT size_t stowplan_plan_space_count(const stowplan_plan* plan);
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_get_space(const stowplan_plan* plan, size_t k,
                                                          stowplan_space* space);

/* Policy best: the temporaries of a memory space. */
typedef struct stowplan_heap {
  size_t size;
  int64_t color;
  int64_t xla_bytes; /* in XLA's plan */
  int64_t bytes;     /* in this plan; never more */
  int64_t bound;     /* no plan for what lies in the heap is lower */
  int64_t floor;     /* no plan is lower, whatever moves into buffers of the result */
} stowplan_heap;
STOWPLAN_C_EXPORT size_t stowplan_plan_heap_count(const stowplan_plan* plan);
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_get_heap(const stowplan_plan* plan, size_t k,
                                                         stowplan_heap* heap);

/* ---- Plans as texts. All end in a 0 byte, which `size` does not count; `size` may be NULL. */

/* All of the plan; docs/report-schema.md. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_json(const stowplan_plan* plan, char** text,
                                                     size_t* size, stowplan_messages** errors);
/* The table "allocations", "values", ... */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_csv(const stowplan_plan* plan, const char* table,
                                                    char** text, size_t* size,
                                                    stowplan_messages** errors);
/* What fills the memory at the peak, for people. Fails if it is not known when values are alive. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_explain(const stowplan_plan* plan, char** text,
                                                        size_t* size, stowplan_messages** errors);
/* One HTML file that needs no server and no network; of several plans, beside each other. */
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_html(const stowplan_plan* const* plans,
                                                     size_t count, char** text, size_t* size,
                                                     stowplan_messages** errors);

/* The reports that XLA would write beside the module. */
typedef struct stowplan_reports stowplan_reports;
STOWPLAN_C_EXPORT stowplan_status stowplan_plan_reports(const stowplan_plan* plan,
                                                        stowplan_reports** reports,
                                                        stowplan_messages** errors);
STOWPLAN_C_EXPORT void stowplan_reports_free(stowplan_reports* reports);
STOWPLAN_C_EXPORT size_t stowplan_reports_count(const stowplan_reports* reports);
/* The name of the file: "module-buffer-assignment.txt". */
STOWPLAN_C_EXPORT const char* stowplan_reports_name(const stowplan_reports* reports, size_t k);
STOWPLAN_C_EXPORT const char* stowplan_reports_text(const stowplan_reports* reports, size_t k,
                                                    size_t* size);

#ifdef __cplusplus
}
#endif

#endif /* STOWPLAN_STOWPLAN_C_H_ */
