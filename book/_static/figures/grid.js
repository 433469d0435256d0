// Grid, block and thread: which element of an n by n matrix does a thread compute?
(() => {
  const { rect, text, sheet } = touch.svg;

  // The threads of a launch that covers n by n elements with blocks of [x, y] threads.
  function launch(n, block) {
    const grid = block.map((side) => Math.ceil(n / side));
    const threads = grid[0] * block[0] * grid[1] * block[1];
    return { grid, threads, idle: threads - n * n };
  }
  // What the thread finds out about itself, as in the kernel; indices and blocks are [x, y].
  function place(n, block, blockIdx, threadIdx) {
    const row = blockIdx[1] * block[1] + threadIdx[1];
    const col = blockIdx[0] * block[0] + threadIdx[0];
    return { row, col, flat: row * n + col, inside: row < n && col < n };
  }
  // The other way: which thread of which block stands at a row and a column of the grid?
  function find(block, row, col) {
    const at = [col, row];
    return {
      blockIdx: at.map((k, axis) => Math.floor(k / block[axis])),
      threadIdx: at.map((k, axis) => k % block[axis]),
    };
  }
  function thread({ n, bx, by, row, col }) {
    const { blockIdx, threadIdx } = find([bx, by], row, col);
    return { blockIdx, threadIdx, ...place(n, [bx, by], blockIdx, threadIdx) };
  }

  function draw(state) {
    const { n, bx, by } = state;
    const { grid } = launch(n, [bx, by]);
    const [wide, high] = [grid[0] * bx, grid[1] * by];
    const size = Math.min(40, 320 / wide, 250 / high);
    const left = (touch.WIDTH - wide * size) / 2;
    const top = 20;
    const parts = [
      text(left, 14, `${grid[0]} × ${grid[1]} blocks of ${bx} × ${by} threads`),
    ];
    for (let row = 0; row < high; row++) {
      for (let col = 0; col < wide; col++) {
        const inside = row < n && col < n;
        const [x, y] = [left + col * size, top + row * size];
        const at = { "data-at": `${col},${row}` };
        const mine = row === state.row && col === state.col;
        const plain = inside ? "var(--tf-fill)" : "var(--tf-empty)";
        const look = { ...at, stroke: "var(--tf-line)", "stroke-width": inside ? 0 : 0.5 };
        const fill = mine ? "var(--tf-pick)" : plain;
        parts.push(rect(x + 1, y + 1, size - 2, size - 2, fill, look));
        if (inside && size >= 20) {
          const middle = { "text-anchor": "middle", "font-size": 11, fill: "var(--tf-on)", "pointer-events": "none" };
          parts.push(text(x + size / 2, y + size / 2 + 4, row * n + col, middle));
        }
      }
    }
    for (let k = 0; k < grid[0] * grid[1]; k++) {
      const [x, y] = [k % grid[0], Math.floor(k / grid[0])];
      const edge = { stroke: "var(--tf-line)", "stroke-width": 1.5, "pointer-events": "none" };
      const [width, height] = [bx * size, by * size];
      parts.push(rect(left + x * width, top + y * height, width, height, "none", edge));
    }
    const mark = { stroke: "var(--tf-mark)", "stroke-width": 3, "pointer-events": "none" };
    const [x, y] = [left + state.col * size, top + state.row * size];
    parts.push(rect(x + 1, y + 1, size - 2, size - 2, "none", mark));
    // The same matrix as memory has it: a line of n * n elements, a row after a row.
    const below = 292;
    const step = 320 / (n * n);
    parts.push(text(10, below - 5, `in memory: ${n} rows of ${n}, one after another`));
    for (let row = 0; row < n; row++) {
      const fill = row % 2 ? "var(--tf-empty)" : "var(--tf-fill)";
      parts.push(rect(10 + row * n * step, below, n * step, 14, fill, { rx: 0 }));
    }
    const self = thread(state);
    if (self.inside) {
      const at = 10 + self.flat * step;
      parts.push(rect(at, below - 2, Math.max(step, 2), 18, "none", { ...mark, rx: 0 }));
    }
    return sheet(314, parts);
  }

  function say(state) {
    const { n, bx, by } = state;
    const { grid, threads, idle } = launch(n, [bx, by]);
    const { blockIdx, threadIdx, row, col, flat, inside } = thread(state);
    const words = [
      `Thread (${threadIdx.join(", ")}) of block (${blockIdx.join(", ")}):`,
      `row = ${blockIdx[1]} · ${by} + ${threadIdx[1]} = ${row},`,
      `col = ${blockIdx[0]} · ${bx} + ${threadIdx[0]} = ${col}.`,
    ];
    if (inside) {
      words.push(`Both are below ${n}, so it computes element ${row} · ${n} + ${col} = ${flat}.`);
    } else {
      const beyond = row >= n ? `row ${row}` : `col ${col}`;
      words.push(`The bounds test: ${beyond} is not below ${n}, so it returns.`);
    }
    words.push(`The grid has ${grid[0] * grid[1]} blocks and ${threads} threads; ${idle} of them`);
    return [...words, "have no element."].join(" ");
  }

  touch.figures.grid = {
    title: "Which element is mine?",
    keys: "Point at a thread, tap it, or use the arrow keys here.",
    controls: [
      { name: "n", label: "n", min: 1, max: 12, start: 5 },
      { name: "bx", label: "block in x", min: 1, max: 6, start: 2 },
      { name: "by", label: "block in y", min: 1, max: 6, start: 2 },
    ],
    at: { col: 3, row: 4 },
    cursor: ["col", "row"],
    reach: ({ n, bx, by }) => [Math.ceil(n / bx) * bx, Math.ceil(n / by) * by],
    arithmetic: { launch, place, find },
    draw,
    say,
  };
})();
