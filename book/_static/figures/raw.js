// raw, i and size=: which element does each thread of an ElementwiseKernel touch?
(() => {
  const { rect, circle, line, path, text, sheet } = touch.svg;

  // What stands in the operation for an element of x, and the index it means to thread i of
  // `threads`, with x of `length` elements. In C a remainder has the sign of what is divided.
  const READS = {
    own: ["x", (i, length) => (length === 1 ? 0 : i)],
    same: ["x[i]", (i) => i],
    turned: ["x[_ind.size() - 1 - i]", (i, length, threads) => threads - 1 - i],
    rotated: ["x[(i + 2) % x.size()]", (i, length) => (i + 2) % length],
    second: ["x[2 * i]", (i) => 2 * i],
    before: ["x[i - 1]", (i) => i - 1],
  };

  // What CuPy says to the call, or null: z has `count` elements, or there are `count` threads by
  // size= and everything is raw but, with read "own", x.
  function refusal(read, decide, length, count) {
    if (read !== "own") return null;
    if (decide === "size") {
      return "Specified 'size' can be used only if all of the ndarray are 'raw'.";
    }
    if (length === count || length === 1) return null;
    return count === 1
      ? "Out shape is mismatched"
      : `operands could not be broadcast together with shapes (${length},) (${count},)`;
  }
  // The index into x of every thread, in order; none where the call is refused.
  function touched(read, decide, length, count) {
    if (refusal(read, decide, length, count)) return [];
    return Array.from({ length: count }, (_, i) => READS[read][1](i, length, count));
  }

  function call({ read, decide, count }) {
    const x = read === "own" ? "T x" : "raw T x";
    const z = decide === "size" ? ["raw T z", "z[i]", `(x, z, size=${count})`] : ["T z", "z", "(x, z)"];
    return [`"${x}", "${z[0]}",`, `"${z[1]} = ${READS[read][0]}"`, z[2]];
  }

  const MOST = 12;
  const SIDE = 25;
  const left = 20;
  function draw(state) {
    const { read, decide, length, count } = state;
    const indices = touched(read, decide, length, count);
    const mono = { "font-family": "ui-monospace, monospace", "font-size": 11.5 };
    const [types, operation, handed] = call(state);
    const parts = [
      text(10, 14, `ElementwiseKernel(${types}`, mono),
      text(10, 29, `    ${operation})${handed}`, { ...mono, "xml:space": "preserve" }),
    ];
    const middle = { "text-anchor": "middle", "font-size": 11, "pointer-events": "none" };
    const row = (name, y, n) => {
      parts.push(text(8, y + 16, name));
      for (let k = 0; k < n; k++) {
        parts.push(rect(left + k * SIDE + 1, y, SIDE - 2, SIDE - 2, "var(--tf-fill)"));
        parts.push(text(left + (k + 0.5) * SIDE, y + 16, k, { ...middle, fill: "var(--tf-on)" }));
      }
    };
    row("x", 44, length);
    row("z", 176, count);
    const edge = { stroke: "var(--tf-mark)", "stroke-width": 2.5 };
    indices.forEach((k, i) => {
      const mine = i === state.thread;
      const stroke = mine ? edge : { stroke: "var(--tf-line)", "stroke-width": 1 };
      const out = k < 0 || k >= length;
      const from = left + (Math.max(-0.6, Math.min(k, MOST)) + 0.5) * SIDE;
      const to = left + (i + 0.5) * SIDE;
      parts.push(line(from, 68, to, 119, "none", stroke));
      if (out) {
        const cross = `M${from - 4} 58l8 8m0 -8l-8 8`;
        parts.push(path(cross, { stroke: "var(--tf-mark)", "stroke-width": 2 }));
      }
      parts.push(line(to, 141, to, 174, "none", stroke));
      parts.push(path(`M${to - 3} 170l3 5l3 -5`, stroke));
      const more = { ...(mine ? edge : stroke), "data-at": `${i}` };
      parts.push(circle(to, 130, 11, mine ? "var(--tf-pick)" : "var(--tf-empty)", more));
      parts.push(text(to, 134, i, mine ? { ...middle, fill: "var(--tf-on)" } : middle));
    });
    if (indices.length) parts.push(text(8, 134, "i"));
    else parts.push(text(10, 134, "refused: no thread starts"));
    return sheet(206, parts);
  }

  function say(state) {
    const { read, decide, length, count, thread } = state;
    const why = refusal(read, decide, length, count);
    if (why) return `CuPy refuses this call: ValueError: ${why}`;
    const indices = touched(read, decide, length, count);
    const k = indices[thread];
    const outside = indices.filter((index) => index < 0 || index >= length).length;
    const decides = decide === "size" ? `size=${count} decides` : "z decides, which is not raw";
    const plural = count === 1 ? "" : "s";
    const words = [`${count} thread${plural}: ${decides}.`, `Thread ${thread} reads x[${k}]`];
    words.push(
      k < 0 || k >= length
        ? "outside the array: no error on a GPU, but somebody else's memory."
        : `and writes z[${thread}].`,
    );
    if (outside) words.push(`${outside} of ${count} read outside.`);
    if (decide === "z" && read !== "own" && length !== count) {
      words.push(`That x has ${length} elements changes nothing: it is raw.`);
    }
    return words.join(" ");
  }

  touch.figures.raw = {
    title: "Which element does thread i touch?",
    keys: "Point at a thread, tap it, or use the left and right arrow keys here.",
    controls: [
      {
        name: "read",
        label: "operation",
        options: Object.entries(READS).map(([name, [code]]) => [
          name,
          name === "own" ? "x, not raw" : code,
        ]),
        start: "turned",
      },
      {
        name: "decide",
        label: "threads by",
        options: [
          ["z", "T z: its elements"],
          ["size", "raw T z: size="],
        ],
        start: "z",
      },
      { name: "length", label: "x, elements", min: 1, max: MOST, start: 8 },
      { name: "count", label: "z, or size", min: 1, max: MOST, start: 6 },
    ],
    at: { thread: 1 },
    cursor: ["thread"],
    reach: ({ count }) => [count],
    arithmetic: { touched, refusal },
    draw,
    say,
  };
})();
