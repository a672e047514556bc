// Digits of agreement over the frozen states: of all engines for one quantity, or of all dofs for one engine.

function statesSection(model, tolerance) {
  const kept = withArrays(model);
  if (!kept.length) return null;
  const strata = spans(model.states.strata);
  const digits = model.arrays.engines.map((of) =>
    Object.fromEntries(Object.entries(of.digits).map(([quantity, packed]) => [quantity, unpacked(packed).values])),
  );
  const quantities = Object.keys(HEADS).filter((quantity) => kept.some((k) => digits[k][quantity]));
  const at = { quantity: quantities[0], engine: kept[0] };
  const stratumOf = (state) => strata.find((s) => state >= s.from && state <= s.to)?.name ?? "";
  const lines = chart({
    title: "Digits of agreement over the frozen states",
    size: () => ({ height: 380 }),
    option: () => statesOption(model, kept, digits, at, strata, stratumOf),
    describe: () => statesWords(model, kept, digits, at, strata),
  });
  const spread = () => model.arrays.engines[at.engine].spread[at.quantity];
  const places = chart({
    title: "Where: digits of each dof or body over the states",
    size: () => ({ width: 150 + Math.min(model.states.count, 128) * 8, height: spread() ? Math.min(spread().shape[1], 60) * 15 + 130 : 60 }),
    option: () => spreadOption(model, at, spread(), tolerance, stratumOf),
    describe: () => spreadWords(model, at, spread()),
  });
  const draw = () => {
    lines.draw();
    places.draw();
  };
  const choices = element(
    "div",
    { class: "choices" },
    choice("quantity", quantities.map((q) => [q, q]), at.quantity, (value) => {
      at.quantity = value;
      draw();
    }),
    choice("dofs and bodies of", engineOptions(model, kept), at.engine, (value) => {
      at.engine = Number(value);
      draw();
    }),
  );
  return section(
    "states",
    "Digits over the states",
    "States",
    choices,
    lines.figure,
    places.figure,
    folded("Digits of every state in a table", (box) => box.append(stateTable(model, kept, digits, stratumOf))),
  );
}

function statesOption(model, kept, digits, at, strata, stratumOf) {
  const count = model.states.count;
  const marks = ["circle", "rect", "triangle", "diamond", "roundRect", "pin"];
  const some = kept.filter((k) => digits[k][at.quantity]);
  return {
    grid: { left: 50, right: 20, top: 70, bottom: count > 256 ? 90 : 46 },
    legend: { top: 0, type: "scroll", textStyle: { color: ink("text") }, pageTextStyle: { color: ink("text") } },
    tooltip: tooltip(({ seriesName, data }) =>
      tip(seriesName, `state ${data[0]}, ${stratumOf(data[0])}`, `${floored(data[1])} digits`),
    ),
    xAxis: stateAxis(count),
    yAxis: axis({ type: "value", min: 0, max: 17, name: "digits" }),
    dataZoom: zooms(count, 256, ["x"]),
    series: some.map((k, n) => ({
      name: label(model.engines[k]),
      type: "scatter",
      symbol: marks[n % marks.length],
      symbolSize: 7,
      data: Array.from(digits[k][at.quantity], (x, i) => [i, x]),
      itemStyle: { color: ink(`line-${(n % 6) + 1}`), opacity: 0.85 },
      ...(n === 0 ? { markArea: bands(strata, "insideBottom") } : {}),
    })),
  };
}

function statesWords(model, kept, digits, at, strata) {
  const parts = kept
    .filter((k) => digits[k][at.quantity])
    .map((k) => {
      const values = digits[k][at.quantity];
      const worst = values.reduce((best, x, i) => (x < values[best] ? i : best), 0);
      return `${label(model.engines[k])} ${floored(values[worst])} at state ${worst}`;
    });
  const names = strata.map((s) => `${s.name} ${s.from === s.to ? s.from : `${s.from} to ${s.to}`}`);
  return `${at.quantity}, fewest digits: ${parts.join("; ")}. Strata: ${names.join(", ")}.`;
}

function spreadOption(model, at, packed, tolerance, stratumOf) {
  if (!packed) return { title: { text: "" }, series: [] };
  const { shape, values } = unpacked(packed);
  const result = model.engines[at.engine];
  const names = BODY_MEASURES.includes(at.quantity) ? result.bodies : result.dofs;
  const cells = [];
  for (let i = 0; i < shape[0]; i++) for (let j = 0; j < shape[1]; j++) cells.push([i, j, values[i * shape[1] + j] / 10]);
  return {
    grid: { left: 130, right: shape[1] > 60 ? 40 : 20, top: 10, bottom: shape[0] > 128 ? 110 : 80 },
    xAxis: axis({ type: "category", data: Array.from({ length: shape[0] }, (_, i) => i), name: "state", nameLocation: "middle", nameGap: 26, splitLine: { show: false } }),
    yAxis: axis({ type: "category", inverse: true, data: names, axisLabel: { color: ink("text"), formatter: (where) => shortened(where), fontSize: 11, interval: 0 }, splitLine: { show: false } }),
    dataZoom: [...zooms(shape[0], 128, ["x"]), ...zooms(shape[1], 60, ["y"])],
    visualMap: digitMap(tolerance, { dimension: 2 }),
    tooltip: tooltip(({ data: [i, j, x] }) => tip(names[j], `state ${i}, ${stratumOf(i)}`, `${x.toFixed(1)} digits`)),
    series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: ink("page"), borderWidth: 0.5 } }],
  };
}

function spreadWords(model, at, packed) {
  const who = label(model.engines[at.engine]);
  if (!packed) return `${at.quantity} has no parts, or ${who} did not answer.`;
  const { shape, values } = unpacked(packed);
  const result = model.engines[at.engine];
  const names = BODY_MEASURES.includes(at.quantity) ? result.bodies : result.dofs;
  const least = names.map((where, j) => [where, Math.min(...Array.from({ length: shape[0] }, (_, i) => values[i * shape[1] + j])) / 10]);
  least.sort((a, b) => a[1] - b[1]);
  const some = least.slice(0, 5).map(([where, x]) => `${where} ${x.toFixed(1)}`);
  return `${who}, ${at.quantity}: fewest digits at ${some.join(", ")}.`;
}

function stateTable(model, kept, digits, stratumOf) {
  const quantities = Object.keys(HEADS).filter((quantity) => kept.some((k) => digits[k][quantity]));
  const rows = [];
  for (const k of kept)
    for (let state = 0; state < model.states.count; state++) {
      const row = { engine: model.engines[k].engine, path: model.engines[k].path, state, stratum: stratumOf(state) };
      for (const quantity of quantities) row[quantity] = digits[k][quantity] ? digits[k][quantity][state] : null;
      rows.push(row);
    }
  return table({
    caption: "Digits of every state",
    rows,
    columns: [
      { field: "engine", title: "engine" },
      { field: "path", title: "path" },
      { field: "state", title: "state", right: true },
      { field: "stratum", title: "stratum" },
      ...quantities.map((quantity) => ({
        field: quantity,
        title: HEADS[quantity][0],
        help: HEADS[quantity][1],
        right: true,
        text: (x) => (x === null ? NONE : floored(x)),
      })),
    ],
  });
}
