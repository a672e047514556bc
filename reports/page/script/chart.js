// Charts: ECharts draws them as SVG, in the colours of the page, and again when these change.

const charts = new Set();
const AHEAD = "800px"; // a chart is drawn when it is this near to what is seen

const sight = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) [...charts].find((made) => made.figure === target)?.draw(true);
  },
  { rootMargin: AHEAD },
);

/** Return a colour of the page by the name of its custom property. */
function ink(property) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${property}`).trim();
}

/** Return the colours of digits of agreement: red below what --tolerance asks, blue above. */
function digitColours(tolerance) {
  const middle = -Math.log10(tolerance) / 17;
  const ramp = [];
  for (let i = 0; i <= 20; i++) {
    const t = i / 20;
    const colours = t < middle ? ["few", "some"] : ["enough", "all"];
    const share = t < middle ? t / middle : (t - middle) / (1 - middle);
    ramp.push(vendor.echarts.color.lerp(share, colours.map((c) => ink(`digits-${c}`))));
  }
  return ramp;
}

function digitColour(digits, tolerance) {
  const ramp = digitColours(tolerance);
  return ramp[Math.round((Math.min(17, Math.max(0, digits)) / 17) * 20)];
}

/**
 * Return a chart with its caption and a description in words.
 *
 * `option()` gives the option of ECharts, without what all charts share; `describe()` the description; `click(event)`
 * is called with what was clicked; `size()` gives in pixels the height, the `width` that is needed, beyond which a chart
 * scrolls, and the `widest` that helps.
 */
function chart({ title, option, describe, size, click }) {
  const canvas = element("div", { class: "canvas", role: "img" });
  const words = element("p", { class: "described" });
  const scroller = element("div", { class: "scroller" }, canvas);
  const figure = element("figure", {}, element("figcaption", {}, title), scroller, words);
  const made = { canvas, figure, scroller, drawn: null, draw, resize };
  function resize() {
    const { width, height, widest } = size();
    const room = scroller.clientWidth;
    canvas.style.height = `${height}px`;
    canvas.style.maxWidth = widest ? `${Math.max(widest, width)}px` : "";
    canvas.style.width = width && width > room ? `${width}px` : "100%";
    const wide = canvas.scrollWidth > room + 1;
    // What scrolls must be reachable by the keyboard.
    if (wide) {
      scroller.setAttribute("tabindex", "0");
      scroller.setAttribute("role", "region");
      scroller.setAttribute("aria-label", `${title}, scrolls sideways`);
    } else for (const attribute of ["tabindex", "role", "aria-label"]) scroller.removeAttribute(attribute);
    made.drawn?.resize();
    fit();
  }
  /** Let the drawing shrink to the width of paper. */
  function fit() {
    const svg = canvas.querySelector("svg");
    if (svg) svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
  }
  function draw(seen = Boolean(made.drawn)) {
    if (!figure.isConnected) return;
    resize();
    const text = describe();
    canvas.setAttribute("aria-label", `${title}. ${text}`);
    words.textContent = text;
    if (!seen) return sight.observe(figure);
    sight.unobserve(figure);
    if (!made.drawn) {
      made.drawn = vendor.echarts.init(canvas, null, { renderer: "svg" });
      if (click) made.drawn.on("click", click);
    }
    made.drawn.setOption({ ...shared(), ...option() }, { notMerge: true });
    fit();
  }
  charts.add(made);
  whenPlaced(figure, () => draw());
  return made;
}

function shared() {
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { color: ink("text"), fontFamily: ink("font"), fontSize: 12 },
  };
}

/** Return what a tooltip shows: lines of text, never markup. */
function tip(...lines) {
  return element("div", { class: "tip" }, ...lines.map((line) => element("div", {}, element("bdi", {}, line))));
}

function tooltip(formatter) {
  return {
    trigger: "item",
    confine: true,
    backgroundColor: ink("raised"),
    borderColor: ink("line"),
    textStyle: { color: ink("text"), fontSize: 13 },
    formatter,
  };
}

/** Return the axis of states, in the middle of whose bands they stand. */
function stateAxis(count) {
  return axis({
    type: "value",
    min: -0.5,
    max: count - 0.5,
    minInterval: 1,
    name: "state",
    nameLocation: "middle",
    nameGap: 26,
    splitLine: { show: false },
    axisLabel: { color: ink("text"), hideOverlap: true, showMinLabel: false, showMaxLabel: false },
  });
}

function axis(more) {
  return {
    axisLine: { lineStyle: { color: ink("line") } },
    axisTick: { show: false },
    axisLabel: { color: ink("text"), hideOverlap: true },
    nameTextStyle: { color: ink("text") },
    splitLine: { lineStyle: { color: ink("faint") } },
    splitArea: { show: false },
    ...more,
  };
}

const COLOURS = "Red: fewer digits than --tolerance asks; blue: more.";

/** Return the legend of digits of agreement. */
function digitMap(tolerance, more) {
  return {
    type: "continuous",
    min: 0,
    max: 17,
    calculable: false,
    orient: "horizontal",
    left: "center",
    bottom: 0,
    itemWidth: 12,
    itemHeight: 220,
    text: ["17 digits", "0"],
    textStyle: { color: ink("text") },
    inRange: { color: digitColours(tolerance) },
    ...more,
  };
}

/** Return sliders for an axis with many entries, `most` of them in sight at first. */
function zooms(count, most, axes) {
  if (count <= most) return [];
  return axes.map((which) => ({
    type: "slider",
    [which === "x" ? "xAxisIndex" : "yAxisIndex"]: 0,
    startValue: 0,
    endValue: most - 1,
    filterMode: "filter",
    showDetail: false,
    brushSelect: false,
    borderColor: ink("line"),
    ...(which === "x" ? { height: 16, bottom: 34 } : { width: 16, right: 4 }),
  }));
}

/** Draw again what is drawn, or everything; forget what is no longer in the page. */
function redraw(all = false) {
  for (const made of charts) {
    if (made.figure.isConnected) all ? made.draw(true) : made.draw();
    else {
      sight.unobserve(made.figure);
      made.drawn?.dispose();
      charts.delete(made);
    }
  }
}
