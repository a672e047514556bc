// Joint efforts by term, from the reference: what gravity, velocity, inertia and the rest ask of each joint.

const TERM_WORDS = {
  gravity: "gravity",
  velocity: "velocity",
  inertia: "inertia",
  armature: "armature",
  wrenches: "external wrenches",
  passive: "passive (not in tau)",
};

function torqueSection(model) {
  const arrays = model.arrays;
  if (!arrays?.tau || !model.nv) return null;
  const terms = Object.entries(arrays.terms).map(([term, packed]) => [term, unpacked(packed)]);
  const tau = unpacked(arrays.tau);
  const order = Object.keys(TERM_WORDS);
  terms.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  const dofs = model.dofs;
  const count = tau.shape[0];
  const at = { by: "joint", dof: widest(tau), state: 0 };
  const strata = spans(model.states.strata);
  const stratumOf = (state) => strata.find((s) => state >= s.from && state <= s.to)?.name ?? "";
  const along = () => {
    const one = (matrix) =>
      at.by === "joint"
        ? column(matrix, at.dof)
        : Array.from(matrix.values.subarray(at.state * dofs.length, (at.state + 1) * dofs.length));
    return { terms: terms.map(([term, matrix]) => [term, one(matrix)]), tau: one(tau) };
  };
  const drawn = chart({
    title: "Joint effort by term, from the reference",
    size: () => ({ height: 400 }),
    option: () => torqueOption(along(), at, dofs, strata, stratumOf),
    describe: () => torqueWords(along(), at, dofs, count),
  });
  const picks = element("div", { class: "choices" });
  const below = element("div", {});
  function rebuild() {
    picks.replaceChildren(
      choice("show", [["joint", "one joint over the states"], ["state", "all joints at one state"]], at.by, (value) => {
        at.by = value;
        rebuild();
      }),
      at.by === "joint"
        ? choice("joint", dofs.map((dof, i) => [i, dof]), at.dof, pick("dof"))
        : choice("state", Array.from({ length: count }, (_, i) => [i, `${i}, ${stratumOf(i)}`]), at.state, pick("state")),
    );
    refresh();
  }
  const pick = (key) => (value) => {
    at[key] = Number(value);
    refresh();
  };
  function refresh() {
    drawn.draw();
    dropTables(below);
    below.replaceChildren(
      folded("These efforts in a table", (box) => box.append(torqueTable(along(), at, dofs, stratumOf))),
    );
  }
  const made = section("torque", "Torque by term", "Torque", picks, drawn.figure, below);
  rebuild();
  return made;
}

/** Return the dof with the largest effort: it is the one that shows most. */
function widest(tau) {
  const columns = tau.shape[1];
  let best = 0;
  tau.values.forEach((x, i) => {
    if (Math.abs(x) > Math.abs(tau.values[best])) best = i;
  });
  return best % columns;
}

/** Return the strata as spans of states. */
function spans(strata) {
  let from = 0;
  return Object.entries(strata).map(([stratum, count]) => {
    const span = { name: stratum, from, to: from + count - 1 };
    from += count;
    return span;
  });
}

/** Return strata as shaded bands behind the states. */
function bands(strata, position = "insideTop") {
  return {
    silent: true,
    label: { color: ink("text"), fontSize: 10, position, rotate: 90, verticalAlign: "middle", align: position === "insideTop" ? "right" : "left" },
    data: strata
      .filter((s) => s.to >= s.from)
      .map((s, i) => [
        { xAxis: s.from - 0.5, name: s.name, itemStyle: { color: ink(i % 2 ? "band" : "page") } },
        { xAxis: s.to + 0.5 },
      ]),
  };
}

function torqueOption({ terms, tau }, at, dofs, strata, stratumOf) {
  const states = at.by === "joint";
  const head = (i) => (states ? `state ${i}, ${stratumOf(i)}` : dofs[i]);
  const x = states
    ? stateAxis(tau.length)
    : axis({ type: "category", data: dofs, axisLabel: { color: ink("text"), rotate: 50, formatter: (dof) => shortened(dof), hideOverlap: true } });
  const marks = ["term-1", "term-2", "term-3", "term-4", "term-5", "term-6"];
  return {
    grid: { left: 70, right: 20, top: 60, bottom: states ? (tau.length > 128 ? 90 : 50) : 110 },
    legend: { top: 0, textStyle: { color: ink("text") }, type: "scroll", pageTextStyle: { color: ink("text") } },
    tooltip: {
      ...tooltip((items) =>
        tip(head(items[0].data[0]), ...items.map((item) => `${item.seriesName}: ${rounded(item.data[1])}`)),
      ),
      trigger: "axis",
      axisPointer: { type: "shadow" },
    },
    xAxis: x,
    yAxis: axis({ type: "value", name: "N m | N", axisLabel: { color: ink("text"), formatter: (x) => rounded(x, 4) } }),
    dataZoom: zooms(tau.length, states ? 128 : 60, ["x"]),
    series: [
      ...terms.map(([term, values], k) => ({
        name: TERM_WORDS[term] || term,
        // What is in tau adds up to it; what is not is drawn beside it.
        ...(term === "passive" ? { type: "scatter", symbol: "rect", symbolSize: [11, 4] } : { type: "bar", stack: "tau" }),
        data: Array.from(values, (y, i) => [i, term === "passive" && y === 0 ? NaN : y]),
        barCategoryGap: "30%",
        itemStyle: { color: ink(marks[k % marks.length]), borderColor: ink("page"), borderWidth: 0.5 },
        ...(k === 0 && states ? { markArea: bands(strata) } : {}),
      })),
      {
        name: "tau",
        type: "scatter",
        symbol: "diamond",
        symbolSize: 7,
        data: Array.from(tau, (y, i) => [i, y]),
        itemStyle: { color: ink("text") },
      },
    ],
  };
}

function torqueWords({ terms, tau }, at, dofs, count) {
  const largest = (values) => values.reduce((best, x) => (Math.abs(x) > Math.abs(best) ? x : best), 0);
  const parts = terms.map(([term, values]) => `${TERM_WORDS[term] || term} ${rounded(largest(values), 3)}`);
  const where = at.by === "joint" ? `${dofs[at.dof]} over ${counted(count, "state")}` : `all joints at state ${at.state}`;
  return `${where}: tau is largest at ${rounded(largest(tau), 4)}; largest of each term: ${parts.join(", ")} [N m | N].`;
}

function torqueTable({ terms, tau }, at, dofs, stratumOf) {
  const rows = Array.from(tau, (effort, i) => ({
    at: at.by === "joint" ? i : dofs[i],
    stratum: at.by === "joint" ? stratumOf(i) : undefined,
    tau: effort,
    ...Object.fromEntries(terms.map(([term, values]) => [term, values[i]])),
  }));
  return table({
    caption: at.by === "joint" ? `Effort at ${dofs[at.dof]} [N m | N]` : `Efforts at state ${at.state} [N m | N]`,
    rows,
    columns: [
      { field: "at", title: at.by === "joint" ? "state" : "dof", right: at.by === "joint" },
      ...(at.by === "joint" ? [{ field: "stratum", title: "stratum" }] : []),
      { field: "tau", title: "tau", right: true },
      ...terms.map(([term]) => ({ field: term, title: TERM_WORDS[term] || term, right: true })),
    ],
  });
}
