// Shared memory: in which banks does a warp find the 32 words that it asks for?
(() => {
  const { rect, line, text, sheet } = touch.svg;
  const LANES = 32; // threads of a warp
  const BANKS = 32; // banks of shared memory, each a word of 4 bytes wide

  // The word that a thread asks for, in a tile whose rows are `width` words and `padding` more.
  function word(thread, width, padding, along) {
    return along === "row" ? thread : thread * (width + padding);
  }
  // For each bank the threads that it serves, and how many turns the whole request takes: as many
  // as there are different words in the busiest bank.
  function request(width, padding, along) {
    const threads = Array.from({ length: BANKS }, () => []);
    const words = Array.from({ length: BANKS }, () => new Set());
    for (let thread = 0; thread < LANES; thread++) {
      const wanted = word(thread, width, padding, along);
      threads[wanted % BANKS].push(thread);
      words[wanted % BANKS].add(wanted);
    }
    return { threads, turns: Math.max(...words.map((set) => set.size)) };
  }

  function draw({ width, padding, along, thread }) {
    const { threads } = request(width, padding, along);
    const parts = [text(10, 14, "the 32 banks, and on each the threads that it serves")];
    const floor = 20 + LANES * 8;
    for (let bank = 0; bank < BANKS; bank++) {
      const x = 10 + bank * 10;
      parts.push(rect(x + 0.5, 20, 9, LANES * 8, "var(--tf-empty)"));
      threads[bank].forEach((k, turn) => {
        const mine = k === thread;
        const edge = mine ? { stroke: "var(--tf-mark)", "stroke-width": 2 } : {};
        const fill = mine ? "var(--tf-pick)" : "var(--tf-fill)";
        const y = floor - 8 * (turn + 1);
        parts.push(rect(x + 1.5, y + 0.8, 7, 6.4, fill, { ...edge, "data-at": `${k}` }));
      });
      if (bank % 4 === 0 || bank === BANKS - 1) {
        parts.push(text(x + 5, floor + 13, bank, { "text-anchor": "middle", "font-size": 11 }));
      }
    }
    parts.push(line(10, floor, 330, floor, "var(--tf-line)"));
    return sheet(floor + 20, parts);
  }

  function say({ width, padding, along, thread }) {
    const { turns } = request(width, padding, along);
    const wanted = word(thread, width, padding, along);
    const row = width + padding;
    const sum = along === "row" ? `word ${wanted}` : `word ${thread} · ${row} = ${wanted}`;
    const verdict =
      turns === 1
        ? "No bank is asked for two words: one turn, no conflict."
        : `The busiest bank is asked for ${turns} words, one after another: ${turns} turns.`;
    const bank = `${wanted} mod ${BANKS} = ${wanted % BANKS}`;
    return `${verdict} Thread ${thread} reads ${sum}, which lies in bank ${bank}.`;
  }

  touch.figures.banks = {
    title: "Who has to wait for a bank?",
    keys: "Point at a thread, tap it, or use the left and right arrow keys here.",
    controls: [
      { name: "width", label: "row, words", min: 1, max: 64, start: 32 },
      { name: "padding", label: "padding", min: 0, max: 8, start: 0 },
      {
        name: "along",
        label: "the warp reads",
        options: [
          ["column", "down a column"],
          ["row", "along a row"],
        ],
        start: "column",
      },
    ],
    at: { thread: 5 },
    cursor: ["thread"],
    reach: () => [LANES],
    arithmetic: { word, request },
    draw,
    say,
  };
})();
