// A sum by a tree and two scans, step by step: who adds what, and what is finished.
(() => {
  const { rect, line, text, sheet } = touch.svg;
  const N = 16;
  const NUMBERS = [3, 1, 7, 0, 4, 1, 6, 3, 2, 5, 0, 8, 1, 9, 2, 4];

  // The steps of each way: in a step, every pair [place, from] adds the number at from to place.
  const WAYS = {
    tree: () => {
      const steps = [];
      for (let half = N / 2; half > 0; half >>= 1) {
        steps.push(Array.from({ length: half }, (_, t) => [t, t + half]));
      }
      return steps;
    },
    hillis: () => {
      const steps = [];
      for (let step = 1; step < N; step *= 2) {
        steps.push(Array.from({ length: N - step }, (_, t) => [t + step, t]));
      }
      return steps;
    },
    work: () => {
      const steps = [];
      const add = (step, first) => {
        const pairs = [];
        for (let k = first; k < N; k += 2 * step) pairs.push([k, k - step]);
        steps.push(pairs);
      };
      for (let step = 1; step < N; step *= 2) add(step, 2 * step - 1);
      for (let step = N / 4; step > 0; step >>= 1) add(step, 3 * step - 1);
      return steps;
    },
  };

  function steps(way) {
    return WAYS[way]();
  }
  // The numbers after each step, those at the start first; all of a step read before any writes.
  function rows(way) {
    const found = [NUMBERS];
    for (const pairs of steps(way)) {
      const last = found[found.length - 1];
      const next = [...last];
      for (const [place, from] of pairs) next[place] = last[place] + last[from];
      found.push(next);
    }
    return found;
  }
  // Which of the first numbers a place has added up after a step, as [first, last].
  function covers(way, step, place) {
    let held = NUMBERS.map((_, k) => [k]);
    for (const pairs of steps(way).slice(0, step)) {
      const next = held.map((list) => [...list]);
      for (const [to, from] of pairs) next[to] = [...held[to], ...held[from]];
      held = next;
    }
    return held[place].sort((a, b) => a - b);
  }

  const X = (place) => 20 + place * 20;
  const Y = (row) => 26 + row * 34;
  function draw({ way, step, place }) {
    const all = rows(way);
    const done = steps(way);
    step = Math.min(step, done.length);
    const parts = [text(10, 12, `step ${step} of ${done.length}`)];
    for (let row = 0; row <= step; row++) {
      if (row > 0) {
        for (const [to, from] of done[row - 1]) {
          const mine = row === step && to === place;
          const stroke = mine ? "var(--tf-mark)" : "var(--tf-line)";
          const more = { "stroke-width": mine ? 2.5 : 1 };
          parts.push(line(X(from), Y(row - 1) + 9, X(to), Y(row) - 9, stroke, more));
        }
      }
      const adds = new Set(row ? done[row - 1].map(([to]) => to) : []);
      for (let k = 0; k < N; k++) {
        const whole = way === "tree" ? k === 0 && row === done.length : covers(way, row, k).length > k;
        const shown = whole && row > 0;
        const picked = row === step && k === place;
        const edge = { stroke: picked ? "var(--tf-mark)" : "var(--tf-line)" };
        edge["stroke-width"] = picked ? 2.5 : adds.has(k) ? 1.4 : 0.4;
        parts.push(rect(X(k) - 9, Y(row) - 9, 18, 18, "var(--tf-empty)", edge));
        const ink = { "text-anchor": "middle", "font-size": 10 };
        if (shown) ink["font-weight"] = "bold";
        parts.push(text(X(k), Y(row) + 4, all[row][k], ink));
        const at = { "data-at": `${k}` };
        if (row === step) parts.push(rect(X(k) - 10, Y(row) - 10, 20, 20, "transparent", at));
      }
    }
    return sheet(Y(step) + 16, parts);
  }

  function say({ way, step, place }) {
    const all = rows(way);
    const done = steps(way);
    step = Math.min(step, done.length);
    const value = all[step][place];
    if (step === 0) return `Place ${place} holds ${value}. ${done.length} steps are to come.`;
    const pair = done[step - 1].find(([to]) => to === place);
    const count = done[step - 1].length;
    const noun = count === 1 ? "place adds" : "places add";
    const before = all[step - 1];
    const own = pair
      ? `Place ${place} adds place ${pair[1]}: ${before[place]} + ${before[pair[1]]} = ${value}.`
      : `Place ${place} keeps ${value}.`;
    const held = covers(way, step, place);
    const part = held.length > 1 ? `the sum of ${held.length} numbers` : "its own number";
    return `Step ${step}: ${count} ${noun}. ${own} That is ${part}.`;
  }

  const ways = [
    ["tree", "a sum, by a tree"],
    ["hillis", "a scan, by Hillis and Steele"],
    ["work", "a scan, with less work"],
  ];
  touch.figures.tree = {
    title: "Sixteen numbers, added up step by step",
    keys: "Point at a place of the last row, tap, or use the arrow keys here: left and right.",
    controls: [
      { name: "way", label: "what is made", options: ways, start: "tree" },
      { name: "step", label: "steps done", min: 0, max: 7, start: 4 },
    ],
    at: { place: 0 },
    cursor: ["place"],
    reach: () => [N],
    arithmetic: { steps, rows, covers },
    draw,
    say,
  };
})();
