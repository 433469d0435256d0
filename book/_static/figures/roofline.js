// The roofline: how fast can a kernel be, by its bytes and its operations?
(() => {
  const { rect, circle, line, path, text, sheet } = touch.svg;

  // Operations of an element, by steps of the control: 1, 2, 3, 4, 6, 8, 12 and so on.
  const STEPS = 23;
  function operations(step) {
    if (step === 0) return 1;
    const half = Math.floor((step - 1) / 2);
    return step % 2 ? 2 * 2 ** half : 3 * 2 ** half;
  }
  // The most that a kernel reaches. bandwidth in bytes, peak in operations per second; the result
  // in operations per second, with what binds: "memory" or "arithmetic".
  function roof(bytes, flop, bandwidth, peak) {
    const intensity = flop / bytes;
    const byMemory = intensity * bandwidth;
    const binds = byMemory < peak ? "memory" : "arithmetic";
    return { intensity, rate: Math.min(byMemory, peak), binds, ridge: peak / bandwidth };
  }
  // Three digits and a prefix: 4.22e12 -> "4.22 T".
  function short(value) {
    const prefixes = { T: 1e12, G: 1e9, M: 1e6 };
    const [name, factor] = Object.entries(prefixes).find(([, f]) => value >= f) ?? ["", 1];
    return `${+(value / factor).toPrecision(3)} ${name}`;
  }

  const ceilings = window.touchCeilings ?? [];
  const AREA = { left: 48, right: 322, top: 24, bottom: 250 };
  const X = [-7, 10]; // powers of two of the intensity
  const Y = [9, 14.5]; // powers of ten of the rate
  const across = (intensity) =>
    AREA.left + ((Math.log2(intensity) - X[0]) / (X[1] - X[0])) * (AREA.right - AREA.left);
  const up = (rate) =>
    AREA.bottom - ((Math.log10(rate) - Y[0]) / (Y[1] - Y[0])) * (AREA.bottom - AREA.top);
  const chosen = ({ ceiling }) => ceilings[Number(ceiling)];

  function draw(state) {
    const { bytes, step } = state;
    const { bandwidth, peak } = chosen(state);
    const flop = operations(step);
    const { intensity, rate, ridge } = roof(bytes, flop, bandwidth, peak);
    const small = { "font-size": 11 };
    const parts = [text(10, 14, "operations a second, against operations a byte")];
    for (let power = Y[0]; power <= Y[1]; power++) {
      const y = up(10 ** power);
      parts.push(line(AREA.left, y, AREA.right, y, "var(--tf-empty)"));
      const name = { "text-anchor": "end", ...small };
      parts.push(text(AREA.left - 4, y + 4, short(10 ** power), name));
    }
    for (let power = X[0] + 1; power <= X[1]; power += 2) {
      const label = power < 0 ? `1/${2 ** -power}` : 2 ** power;
      const name = { "text-anchor": "middle", ...small };
      parts.push(text(across(2 ** power), AREA.bottom + 14, label, name));
    }
    parts.push(line(AREA.left, AREA.bottom, AREA.right, AREA.bottom, "var(--tf-line)"));
    ceilings.forEach((other, k) => {
      const points = [2 ** X[0], other.peak / other.bandwidth, 2 ** X[1]];
      const [a, b, c] = points.map((at) => {
        const height = roof(1, at, other.bandwidth, other.peak).rate;
        return `${across(at).toFixed(2)} ${up(height).toFixed(2)}`;
      });
      const mine = k === Number(state.ceiling);
      const stroke = mine ? "var(--tf-ink)" : "var(--tf-line)";
      const dash = mine ? "none" : "4 4";
      const width = mine ? 2 : 1;
      const look = { stroke, "stroke-width": width, "stroke-dasharray": dash };
      parts.push(path(`M${a}L${b}L${c}`, look));
    });
    parts.push(text(across(ridge) + 6, up(peak) - 6, `${short(peak)}FLOP/s`, small));
    const along = across(2 ** -5);
    const beside = up(roof(1, 2 ** -5, bandwidth, peak).rate);
    parts.push(text(along - 2, beside - 12, `${short(bandwidth)}B/s`, { ...small, "text-anchor": "end" }));
    const [x, y] = [across(intensity), up(rate)];
    const mark = { "stroke-width": 2, "stroke-dasharray": "3 3" };
    parts.push(line(x, y, x, AREA.bottom, "var(--tf-mark)", mark));
    parts.push(circle(x, y, 6, "var(--tf-pick)", { stroke: "var(--tf-mark)", "stroke-width": 2.5 }));
    for (let k = 0; k < STEPS; k++) {
      const half = across(2 ** 0.25) - across(1);
      const place = across(operations(k) / bytes);
      const strip = { "data-at": `${k}` };
      parts.push(rect(place - half, AREA.top, 2 * half, 240, "transparent", strip));
    }
    return sheet(274, parts);
  }

  function say(state) {
    const { gpu, type, bandwidth, peak } = chosen(state);
    const flop = operations(state.step);
    const { intensity, rate, binds, ridge } = roof(state.bytes, flop, bandwidth, peak);
    const limit =
      binds === "memory"
        ? `Memory binds: ${+((100 * rate) / peak).toPrecision(3)} % of the arithmetic is in use.`
        : "Arithmetic binds: memory could deliver more.";
    return (
      `${state.bytes} bytes and ${flop} FLOP an element are ${+intensity.toPrecision(3)} FLOP a` +
      ` byte. On ${gpu} in ${type} that is ${short(rate)}FLOP/s at most. ${limit}` +
      ` The roof bends at ${+ridge.toPrecision(3)} FLOP a byte.`
    );
  }

  touch.figures.roofline = {
    title: "How fast could it be?",
    keys: "Point at the chart, tap it, or use the left and right arrow keys here.",
    controls: [
      { name: "bytes", label: "bytes", min: 1, max: 64, start: 12 },
      {
        name: "step",
        label: "operations",
        min: 0,
        max: STEPS - 1,
        start: 1,
        show: (step) => `${operations(step)} FLOP`,
      },
      {
        name: "ceiling",
        label: "ceilings",
        options: ceilings.map(({ gpu, type }, k) => [k, `${type}, ${gpu}`]),
        start: 0,
      },
    ],
    at: {},
    cursor: ["step"],
    reach: () => [STEPS],
    arithmetic: { operations, roof, short },
    draw,
    say,
  };
})();
