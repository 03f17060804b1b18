# SPDX-License-Identifier: Apache-2.0
"""Words and colors of a notebook's card."""

from __future__ import annotations

import html
import re

from .sizes import format_size

# By kind of value, as in the viewer. Names in tables of kinds begin with one of these words.
COLORS = {
    "parameter": "#0072b2",
    "donated": "#8f7ee0",
    "temporary": "#56b4e9",
    "activation": "#e69f00",
    "loop-state": "#cc79a7",
    "collective": "#d55e00",
    "output": "#009e73",
    "constant": "#a3a3a3",
    "thread-local": "#777777",
}
OTHER = "#8a94a3"
DARK_KINDS = ("parameter", "thread-local")  # white letters are easier to read on these

# What no name should contain: control characters, and those that change the text direction.
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def clean(text: str, limit: int = 200) -> str:
    """Any text from a program as HTML, of at most `limit` characters."""
    text = _ODD.sub("\ufffd", text[: 4 * limit])
    if len(text) > limit:
        half = limit // 2
        text = f"{text[: limit - half]}…{text[-half:]}"
    return html.escape(text)


def short_path(text: str) -> str:
    """The end of a long path: "…/linen/linear.py:663"."""
    parts = text.split("/")
    return text if len(text) <= 40 or len(parts) < 4 else "…/" + "/".join(parts[-2:])


def short_size(size: int) -> str:
    """Without the exact number."""
    return format_size(size).split(" (", 1)[0]


def color_of(kind: str) -> str:
    """Of a row of a table by kind: "donated parameter", "loop state"."""
    for key, color in COLORS.items():
        if kind.replace(" ", "-").startswith(key):
            return color
    return OTHER


STYLE = """
.stowplan-card{--st-paper:#fff;--st-ink:#16191d;--st-faint:#545c66;--st-line:#d9dee4;
--st-ground:#f4f6f8;--st-curve:#5b7a99;--st-peak:#b3261e;--st-bar:#c9dcef;color-scheme:light;
background:var(--st-paper);color:var(--st-ink);border:1px solid var(--st-line);border-radius:10px;
padding:16px 18px;margin:4px 0;max-width:920px;box-sizing:border-box;text-align:left;
font:13px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
@media (prefers-color-scheme:dark){.stowplan-card{DARK}}
[data-jp-theme-light="true"] .stowplan-card,.vscode-light .stowplan-card,
html[theme=light] .stowplan-card,html[data-theme=light] .stowplan-card{LIGHT}
[data-jp-theme-light="false"] .stowplan-card,.vscode-dark .stowplan-card,
html[theme=dark] .stowplan-card,html[data-theme=dark] .stowplan-card{DARK}
.stowplan-card .st-head{display:flex;flex-wrap:wrap;gap:2px 12px;align-items:baseline}
.stowplan-card .st-name{font-size:16px;font-weight:650;overflow-wrap:anywhere}
.stowplan-card .st-faint{color:var(--st-faint)}
.stowplan-card .st-axis{fill:var(--st-faint)}
.stowplan-card .st-figures{display:flex;flex-wrap:wrap;gap:10px 36px;margin:12px 0 14px}
.stowplan-card .st-figures>div{min-width:0}
.stowplan-card .st-big{font-size:24px;font-weight:650;line-height:1.2;white-space:nowrap}
.stowplan-card .st-map{display:block;height:auto;font-family:inherit;font-size:11px}
.stowplan-card .st-ground{fill:var(--st-ground)}
.stowplan-card .st-curve{fill:var(--st-curve)}
.stowplan-card .st-peak{stroke:var(--st-peak)}
.stowplan-card .st-dot{fill:var(--st-peak);stroke:var(--st-paper)}
.stowplan-card .st-label{fill:var(--st-peak);font-weight:600}
.stowplan-card .st-in{font-size:10px;pointer-events:none}
.stowplan-card .st-values rect{stroke:var(--st-paper);stroke-width:.5}
.stowplan-card .st-values rect:hover{stroke:var(--st-ink);stroke-width:2}
.stowplan-card .st-tables{display:flex;flex-wrap:wrap;gap:14px 32px;margin-top:14px}
.stowplan-card .st-tables>div{flex:1 1 340px;min-width:0;overflow-x:auto}
.stowplan-card .st-table{border-collapse:collapse;border:0;width:100%;margin:0;table-layout:auto;
font-size:12.5px;color:inherit}
.stowplan-card .st-table caption{caption-side:top;text-align:left;font-weight:600;padding:0 0 4px;
color:inherit}
.stowplan-card .st-table tbody tr:nth-child(n){background:none;border:0;
border-top:1px solid var(--st-line)}
.stowplan-card .st-table thead tr:nth-child(n){background:none;border:0}
.stowplan-card .st-table th,.stowplan-card .st-table td{padding:3px 8px 3px 0;text-align:left;
vertical-align:baseline;font-weight:400;border:0;background:none;max-width:none;color:inherit}
.stowplan-card .st-table .st-number{text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}
.stowplan-card .st-table thead th{color:var(--st-faint);font-size:11.5px}
.stowplan-card .st-table tbody th{overflow-wrap:anywhere}
.stowplan-card .st-table tbody .st-kind{white-space:nowrap}
.stowplan-card .st-share{width:22%;min-width:60px}
.stowplan-card .st-share i{display:block;height:9px;border-radius:2px;background:var(--st-bar);
min-width:1px}
.stowplan-card .st-swatch{display:inline-block;width:9px;height:9px;border-radius:2px;
margin-right:6px}
.stowplan-card .st-notes{margin:12px 0 0;padding:0;list-style:none;color:var(--st-faint)}
.stowplan-card .st-notes li{margin:2px 0;padding-left:14px;text-indent:-14px;overflow-wrap:anywhere}
.stowplan-card .st-notes li::before{content:"– "}
"""
_LIGHT = (
    "--st-paper:#fff;--st-ink:#16191d;--st-faint:#545c66;--st-line:#d9dee4;--st-ground:#f4f6f8;"
    "--st-curve:#5b7a99;--st-peak:#b3261e;--st-bar:#c9dcef;color-scheme:light"
)
_DARK = (
    "--st-paper:#14171b;--st-ink:#e9edf1;--st-faint:#a3adb8;--st-line:#2f363e;--st-ground:#1c2026;"
    "--st-curve:#6f93b5;--st-peak:#ff8a80;--st-bar:#31506d;color-scheme:dark"
)
STYLE = STYLE.replace("DARK", _DARK).replace("LIGHT", _LIGHT).replace("\n", " ")
