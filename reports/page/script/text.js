// Numbers and names as a person reads them; the whole number is what is copied.

const NONE = "–";

/** Return a number of the document: infinities are the strings "inf" and "-inf" there. */
function number(x) {
  if (x === "inf") return Infinity;
  if (x === "-inf") return -Infinity;
  return typeof x === "number" ? x : NaN;
}

/** Return `x` with at most `digits` significant digits. */
function rounded(x, digits = 6) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? NONE : String(x).replace("Infinity", "inf");
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e7) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    return `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${exponent.replace("+", "")}`;
  }
  return String(Number(x.toPrecision(digits)));
}

/** Return an error, a residual or a tolerance; infinity is an answer that is missing. */
function small(x) {
  const size = number(x);
  if (Number.isNaN(size)) return NONE;
  return Number.isFinite(size) ? (size === 0 ? "0" : size.toExponential(2)) : "no answer";
}

/** Return digits of agreement, rounded down: never more than there are. */
function floored(digits) {
  return (Math.floor(digits * 10) / 10).toFixed(1);
}

/** Return a value of the document as text: numbers with `digits` significant digits, all of them when it is 17. */
function said(x, digits = 6) {
  if (x === null || x === undefined) return NONE;
  if (x === true || x === false) return x ? "yes" : "no";
  if (Array.isArray(x)) return `[${x.map((item) => said(item, digits)).join(", ")}]`;
  if (typeof x === "number") return digits >= 17 ? String(x) : rounded(x, digits);
  return String(x);
}

/** Return two values with as many digits as it takes to see that they differ; of equal ones, six. */
function apart(a, b) {
  for (const digits of [6, 9, 12, 15, 17]) {
    const texts = [said(a, digits), said(b, digits)];
    if (texts[0] !== texts[1]) return texts;
  }
  return [said(a), said(b)];
}

/** Return a value with its unit; words have none. */
function measured(text, value, unit) {
  return unit && (typeof value === "number" || Array.isArray(value)) ? `${text} ${unit}` : text;
}

/** Return a text as markup that shows it, for the one place where a library takes nothing else. */
function escaped(text) {
  const box = document.createElement("p");
  box.textContent = text;
  return box.innerHTML;
}

/** Return a name cut to `most` signs in the middle, since names of a robot share their beginnings. */
function shortened(text, most = 18) {
  const signs = [...text];
  if (signs.length <= most) return text;
  const head = Math.floor((most - 1) / 2);
  return `${signs.slice(0, head).join("")}…${signs.slice(signs.length - (most - 1 - head)).join("")}`;
}

/** Return `1 body`, `2 bodies`. */
function counted(count, noun, plural) {
  return `${count} ${count === 1 ? noun : plural || `${noun}s`}`;
}

/** Return file:line, the file by its bare name. */
function place(file, line) {
  if (!file) return line ? `line ${line}` : "";
  const name = file.split(/[\\/]/).pop();
  return line ? `${name}:${line}` : name;
}

/** Return the numbers of an array of the data part, row after row. */
function unpacked(packed) {
  const raw = atob(packed.bytes);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const view = { f8: Float64Array, f4: Float32Array, u1: Uint8Array }[packed.kind];
  return { shape: packed.shape, values: new view(bytes.buffer) };
}

/** Return column `j` of an unpacked matrix. */
function column(matrix, j) {
  const [rows, columns] = matrix.shape;
  return Array.from({ length: rows }, (_, i) => matrix.values[i * columns + j]);
}

/** Return digits of agreement of an error relative to its scale, 17 at none. */
function digitsOf(ratio) {
  const x = number(ratio);
  return x === 0 ? 17 : Math.min(17, Math.max(0, -Math.log10(x)));
}
