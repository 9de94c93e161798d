// Package chart draws small charts as inline SVG for an HTML page, which gives
// them its own colours and font: lines, bands, rules, linear and logarithmic
// axes.
//
// The page must define the CSS variables --muted, --grid, --bad, --card and --c1
// to --c5. No script, no style of its own.
//
// Units: whatever the points have. Not here: legends and tables, which are the
// page's.
package chart
