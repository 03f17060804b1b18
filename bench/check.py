# SPDX-License-Identifier: Apache-2.0
"""The checker: must take less time than reading the same module from text."""

import large_modules


def against_reading(results):
    print("\nchecking a plan, against reading the module's text\n")
    print(f"  {'module':34}{'executed':>10}{'reading':>12}{'checking':>12}   must be less")
    for name, row in large_modules.measured("stowplan_bench_check"):
        results.append({"check": name, **row})
        print(f"  {name:34}{row['executed']:10}{row['read_s'] * 1e3:9.1f} ms{row['check_s'] * 1e3:9.1f} ms"
              f"   {'yes' if row['check_s'] < row['read_s'] else 'NO'}")
