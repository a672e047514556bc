// The error of the mass matrix as a heat map.

const BLOCK = 60; // dofs in sight at first

function matrixSection(model, tolerance) {
  const kept = withArrays(model).filter((k) => model.arrays.engines[k].matrix);
  if (!kept.length) return null;
  const at = { engine: kept[0] };
  const entries = () => {
    const dofs = model.engines[at.engine].dofs;
    const { values, shape } = unpacked(model.arrays.engines[at.engine].matrix);
    const n = shape[0];
    return { n, dofs, values, cells: Array.from(values, (x, i) => [i % n, Math.floor(i / n), digitsOf(x), x]) };
  };
  const side = () => Math.min(entries().n, BLOCK);
  const drawn = chart({
    title: "Error of the mass matrix M: digits of each entry, worst over the states",
    size: () => ({ width: 240 + side() * 15, height: side() * (side() > 20 ? 15 : 24) + 180, widest: 300 + side() * 44 }),
    option: () => matrixOption(entries(), tolerance),
    describe: () => matrixWords(model, at, entries()),
  });
  const numbers = () =>
    folded("The entries of M in a table", (box) => {
      const { dofs, cells } = entries();
      const rows = cells
        .filter(([j, i]) => j >= i)
        .map(([j, i, digits, ratio]) => ({ row: dofs[i], column: dofs[j], digits, ratio }));
      box.append(
        table({
          caption: `Entries of M, ${label(model.engines[at.engine])}`,
          rows,
          columns: [
            { field: "row", title: "row" },
            { field: "column", title: "column" },
            { field: "digits", title: "digits", right: true, text: floored },
            { field: "ratio", title: "error / scale", right: true, text: small },
          ],
        }),
      );
    });
  const below = element("div", {}, numbers());
  const pick = choice("engine", engineOptions(model, kept), at.engine, (value) => {
    at.engine = Number(value);
    drawn.draw();
    dropTables(below);
    below.replaceChildren(numbers());
  });
  return section("matrix", "Mass matrix", "Mass matrix", element("div", { class: "choices" }, pick), drawn.figure, below);
}

function matrixOption({ n, dofs, cells }, tolerance) {
  const most = BLOCK;
  const names = (more) => axis({ type: "category", data: dofs, splitLine: { show: false }, ...more });
  const label = { color: ink("text"), formatter: (dof) => shortened(dof), fontSize: 11, hideOverlap: true };
  return {
    grid: { left: 130, right: n > most ? 40 : 20, top: 120, bottom: n > most ? 80 : 50 },
    xAxis: names({ position: "top", axisLabel: { ...label, rotate: 60, interval: 0 } }),
    yAxis: names({ inverse: true, axisLabel: { ...label, interval: 0 } }),
    dataZoom: zooms(n, most, ["x", "y"]),
    visualMap: digitMap(tolerance, { dimension: 2 }),
    tooltip: tooltip(({ data: [j, i, digits, ratio] }) =>
      tip(`${dofs[i]}, ${dofs[j]}`, `${floored(digits)} digits`, `error / scale ${small(ratio === Infinity ? "inf" : ratio)}`),
    ),
    series: [
      {
        type: "heatmap",
        data: cells,
        itemStyle: { borderColor: ink("page"), borderWidth: 1 },
        label: { show: n <= 12, formatter: ({ data }) => floored(data[2]), fontSize: 11 },
        emphasis: { itemStyle: { borderColor: ink("text"), borderWidth: 2 } },
      },
    ],
  };
}

function matrixWords(model, at, { n, dofs, cells }) {
  const worst = cells.reduce((a, b) => (b[2] < a[2] ? b : a), cells[0]);
  if (!worst) return "M has no entries.";
  const who = label(model.engines[at.engine]);
  const good = cells.filter((entry) => entry[2] >= 13).length;
  return (
    `${who}: ${n} by ${n}; the worst entry is ${dofs[worst[1]]}, ${dofs[worst[0]]} with ${floored(worst[2])} digits; ` +
    `${good} of ${cells.length} entries have 13 digits or more. ${COLOURS}`
  );
}
