// Tables: Tabulator draws, sorts, filters and copies them; only the rows in sight are in the document.

const TALL = 24; // rows, beyond which a table scrolls

const tables = new Set();

/**
 * Return a table with a caption.
 *
 * A column has `field`, `title`, and optionally `text(value, row)` for what is shown, `mark(value, row)` for a class,
 * `help`, `right` for numbers, `wide` for words that wrap, `filter: false`, and `options` to filter by a choice. What
 * is copied is the value itself, with all digits.
 */
function table({ caption, columns, rows, empty = "nothing", wrap = false, layout = "fitDataTable" }) {
  const box = element("div", { class: "grid" });
  const status = element("span", { class: "count" }, "");
  const copier = element("button", { type: "button", class: "small" }, "Copy table");
  const head = element("div", { class: "tablehead" }, element("h3", {}, caption), status, copier);
  const host = element("div", { class: "table" }, head, box);
  if (!rows.length) {
    box.replaceWith(paragraph(empty, "empty"));
    copier.remove();
    return host;
  }
  const filtering = rows.length > 5;
  const height = rows.length > TALL && !wrap ? "34rem" : wrap && rows.length > 12 ? "44rem" : false;
  whenPlaced(host, () => {
    const grid = new vendor.Tabulator(box, {
      data: rows,
      columns: columns.map((column) => definition(column, filtering, caption)),
      layout,
      ...(height ? { height } : {}),
      columnDefaults: { resizable: "header", vertAlign: wrap ? "top" : "middle" },
      selectableRange: 1,
      selectableRangeAutoFocus: false,
      keybindings: { navNext: false, navPrev: false }, // Tab leaves the table, arrows walk in it
      printAsHtml: true,
      printStyled: false,
      printRowRange: () => grid.getRows("active").slice(0, 200),
      placeholder: "no row passes the filters",
    });
    grid.on("tableBuilt", () => accessible(box, caption, grid));
    grid.on("dataFiltered", (filters, left) => {
      status.textContent = filters.length ? `${left.length} of ${rows.length} rows` : "";
      if (filters.length) announce(`${caption}: ${left.length} of ${rows.length} rows`);
    });
    box.addEventListener("copy", (event) => {
      if (event.target instanceof HTMLInputElement) return;
      const [range] = grid.getRangesData();
      event.clipboardData.setData("text/plain", range.map((row) => Object.values(row).map(whole).join("\t")).join("\n"));
      event.preventDefault();
    });
    copier.addEventListener("click", () => copy(separated(grid, columns), caption));
    tables.add({ grid, box });
  });
  return host;
}

/** Call `make` once `host` is in the document: a table measures its place. */
function whenPlaced(host, make) {
  requestAnimationFrame(() => (host.isConnected ? make() : whenPlaced(host, make)));
}

function definition(column, filtering, caption) {
  const show = column.text || ((value) => said(value));
  const filter = filtering && column.filter !== false;
  return {
    title: column.title,
    field: column.field,
    titlePrint: escaped(column.title),
    titleFormatter: () => element("span", { title: column.help }, name(column.title)),
    formatter: (cell) => {
      const row = cell.getData();
      const kind = column.mark ? column.mark(cell.getValue(), row) : "";
      if (kind) cell.getElement().classList.add(...kind.split(" "));
      const shown = show(cell.getValue(), row);
      return shown instanceof Node ? shown : element("bdi", {}, shown);
    },
    formatterPrint: (cell) => {
      const shown = show(cell.getValue(), cell.getData());
      return shown instanceof Node ? shown : element("bdi", {}, shown);
    },
    sorter: (a, b) => compared(a, b),
    hozAlign: column.right ? "right" : "left",
    headerHozAlign: column.right ? "right" : "left",
    minWidth: column.least || 40,
    ...(column.width ? { width: column.width } : {}),
    ...(column.grow ? { widthGrow: column.grow } : {}),
    variableHeight: Boolean(column.wide),
    cssClass: [column.right ? "figure" : "", column.wide ? "words" : ""].join(" ").trim(),
    ...(filter
      ? {
          headerFilter: column.options ? "list" : "input",
          headerFilterParams: {
            ...(column.options ? { values: ["", ...column.options], clearable: true, itemFormatter: (text) => element("bdi", {}, text) } : {}),
            elementAttributes: { "aria-label": `filter ${column.title} in ${caption}` },
          },
          headerFilterPlaceholder: "filter",
          headerFilterFunc: (wanted, value, row) => passes(wanted, value, show(value, row)),
        }
      : {}),
  };
}

/** Return whether a value passes a filter: `< 9` or `>= 1e-12` for numbers, else a part of what is shown. */
function passes(wanted, value, shown) {
  const bound = /^\s*(<=?|>=?)\s*(\S+)\s*$/.exec(wanted);
  if (bound && !Number.isNaN(Number(bound[2]))) {
    const x = number(value);
    const limit = Number(bound[2]);
    return { "<": x < limit, "<=": x <= limit, ">": x > limit, ">=": x >= limit }[bound[1]];
  }
  const text = shown instanceof Node ? shown.textContent : String(shown);
  return text.toLowerCase().includes(wanted.trim().toLowerCase());
}

/** Order numbers by size, missing ones last, and words by their letters. */
function compared(a, b) {
  const [x, y] = [number(a), number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x === y ? 0 : x - y;
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return said(a).localeCompare(said(b), "en", { numeric: true });
}

/** Return a value as it is copied. */
function whole(value) {
  return value === null || value === undefined ? "" : said(value, 17);
}

/** Return the rows that pass the filters, in their order, tab between columns, all digits. */
function separated(grid, columns) {
  const lines = grid.getData("active").map((row) => columns.map((column) => whole(row[column.field])));
  return [columns.map((column) => column.title), ...lines].map((cells) => cells.join("\t")).join("\n");
}

/** Give the table its name, and let the keyboard sort it. */
function accessible(box, caption, grid) {
  box.setAttribute("aria-label", caption);
  box.removeAttribute("aria-owns");
  // What scrolls has the focus, and so must have the role; the rows stand in it.
  box.querySelector(".tabulator-tableholder").setAttribute("role", "rowgroup");
  box.querySelector(".tabulator-table").setAttribute("role", "presentation");
  for (const column of grid.getColumns()) {
    const head = column.getElement();
    const title = head.querySelector(".tabulator-col-title");
    if (!title) continue;
    title.setAttribute("tabindex", "0");
    title.setAttribute("role", "button");
    title.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      const falling = grid.getSorters().some((s) => s.field === column.getField() && s.dir === "asc");
      grid.setSort(column.getField(), falling ? "desc" : "asc");
      announce(`sorted by ${column.getDefinition().title}, ${falling ? "largest" : "smallest"} first`);
    });
  }
}

/** Forget the tables of a model that is no longer shown. */
function dropTables(host) {
  for (const made of tables) {
    if (!host.contains(made.box)) continue;
    made.grid.destroy();
    tables.delete(made);
  }
}
