// A click on a column sorts the rows of a table by it: numbers first, then words.
function key(cell) {
  const text = cell.textContent.replace(/−/g, "-").replace(/,/g, "").trim();
  const found = text.match(/^-?[\d.]+(e-?\d+)?([kM]?)/);
  if (!found) return [1, text.toLowerCase()];
  return [0, parseFloat(found[0]) * ({k: 1e3, M: 1e6}[found[2]] || 1)];
}
document.querySelectorAll("th").forEach(head => head.addEventListener("click", () => {
  const body = head.closest("table").tBodies[0], column = head.cellIndex;
  const up = head.dataset.order !== "up";
  head.parentNode.querySelectorAll("th").forEach(other => delete other.dataset.order);
  head.dataset.order = up ? "up" : "down";
  const rows = [...body.rows].map(row => [key(row.cells[column]), row]);
  rows.sort(([a], [b]) => (a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0)) * (up ? 1 : -1));
  rows.forEach(([, row]) => body.append(row));
}));
