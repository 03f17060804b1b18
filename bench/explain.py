# SPDX-License-Identifier: Apache-2.0
"""Explaining a plan, as the page does: must take about as long as reading the same module from text; twice is the limit."""

import large_modules


def against_reading(results):
    print("\nexplaining a plan, against reading the module's text\n")
    print(f"  {'module':34}{'instructions':>14}{'reading':>12}{'explaining':>12}{'ratio':>8}   below twice")
    for name, row in large_modules.measured("stowplan_bench_explain"):
        results.append({"explain": name, **row})
        ratio = row["explain_s"] / row["read_s"]
        must = "yes" if ratio < 2 else "NO"
        print(f"  {name:34}{row['instructions']:14}{row['read_s'] * 1e3:9.1f} ms{row['explain_s'] * 1e3:9.1f} ms"
              f"{ratio:7.1f}x   {must}")
