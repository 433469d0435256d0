// A warp's request: which sectors of memory move for what its 32 threads read at once?
(() => {
  const { rect, circle, text, sheet } = touch.svg;
  const LANES = 32; // threads of a warp
  const SECTOR = 32; // bytes that move together
  const LINE = 4; // sectors of a line: a row of the drawing

  // The first byte that a thread of the warp reads; stride and offset count elements.
  function address(thread, stride, offset, size) {
    return (offset + thread * stride) * size;
  }
  // Which sectors move, in order, how many bytes are asked for, and which share of the moved is.
  function request(stride, offset, size) {
    const sectors = new Set();
    const bytes = new Set();
    for (let thread = 0; thread < LANES; thread++) {
      const first = address(thread, stride, offset, size);
      for (let byte = first; byte < first + size; byte++) {
        bytes.add(byte);
        sectors.add(Math.floor(byte / SECTOR));
      }
    }
    const moved = sectors.size * SECTOR;
    const sorted = [...sectors].sort((a, b) => a - b);
    return { sectors: sorted, asked: bytes.size, moved, share: bytes.size / moved };
  }

  const SHOWN = 6; // lines of memory that the drawing has room for
  function draw({ stride, offset, size, thread }) {
    size = Number(size);
    const { sectors } = request(stride, offset, size);
    const at = address(thread, stride, offset, size);
    const parts = [text(10, 14, "32 threads of a warp")];
    const mark = { stroke: "var(--tf-mark)", "stroke-width": 2.5 };
    for (let k = 0; k < LANES; k++) {
      const fill = k === thread ? "var(--tf-pick)" : "var(--tf-fill)";
      const more = k === thread ? mark : {};
      parts.push(circle(15 + k * 10, 28, 4.4, fill, more));
      parts.push(rect(10 + k * 10, 18, 10, 20, "transparent", { "data-at": `${k}` }));
    }
    const lines = [...new Set(sectors.map((sector) => Math.floor(sector / LINE)))];
    const here = lines.indexOf(Math.floor(at / SECTOR / LINE));
    const from = Math.max(0, Math.min(here - SHOWN / 2, lines.length - SHOWN));
    const rest = lines.length - SHOWN;
    const more = rest > 0 ? `, ${SHOWN} of ${lines.length} lines shown` : "";
    parts.push(text(10, 56, `memory, a sector of 32 bytes a box${more}`));
    const owner = new Map();
    for (let k = LANES - 1; k >= 0; k--) {
      for (let b = 0; b < size; b++) owner.set(address(k, stride, offset, size) + b, k);
    }
    lines.slice(from, from + SHOWN).forEach((line, row) => {
      const y = 64 + row * 17;
      parts.push(text(44, y + 10, line * LINE * SECTOR, { "text-anchor": "end" }));
      for (let box = 0; box < LINE; box++) {
        const sector = line * LINE + box;
        const x = 50 + box * 72;
        const moves = sectors.includes(sector);
        const edge = { stroke: "var(--tf-line)", "stroke-dasharray": moves ? "none" : "2 3" };
        parts.push(rect(x, y, 68, 13, moves ? "var(--tf-empty)" : "none", edge));
        for (let b = 0; b < SECTOR; b++) {
          const byte = sector * SECTOR + b;
          const k = owner.get(byte);
          // A number is drawn as one piece, from its first byte or from where a sector begins.
          if (k === undefined || (b > 0 && owner.get(byte - 1) === k)) continue;
          let length = 1;
          while (b + length < SECTOR && owner.get(byte + length) === k) length++;
          const mine = byte <= at && at < byte + length;
          const fill = mine ? "var(--tf-pick)" : "var(--tf-fill)";
          const where = { rx: 0, "data-at": `${k}`, stroke: "var(--tf-ground)", "stroke-width": 0.4 };
          const outline = mine ? { ...where, ...mark, "stroke-width": 2 } : where;
          parts.push(rect(x + 2 + b * 2, y + 1.5, 2 * length, 10, fill, outline));
        }
      }
    });
    return sheet(64 + SHOWN * 17, parts);
  }

  function say({ stride, offset, size, thread }) {
    size = Number(size);
    const { sectors, asked, moved, share } = request(stride, offset, size);
    const first = address(thread, stride, offset, size);
    const last = first + size - 1;
    const where = size > 1 ? `bytes ${first} to ${last}` : `byte ${first}`;
    const noun = sectors.length === 1 ? "sector moves" : "sectors move";
    return (
      `The warp asks for ${asked} bytes. ${sectors.length} ${noun}, ${moved} bytes:` +
      ` ${Math.round(share * 1000) / 10} % of what moves is used.` +
      ` Thread ${thread} reads ${where}, in sector ${Math.floor(first / SECTOR)}.`
    );
  }

  const sizes = [1, 2, 4, 8, 16].map((size) => [size, `${size} byte${size > 1 ? "s" : ""}`]);
  touch.figures.sectors = {
    title: "What moves when a warp reads?",
    keys: "Point at a thread or at its bytes, tap, or use the left and right arrow keys here.",
    controls: [
      { name: "stride", label: "stride", min: 0, max: 33, start: 4 },
      { name: "offset", label: "offset", min: 0, max: 31, start: 0 },
      { name: "size", label: "element size", options: sizes, start: 4 },
    ],
    at: { thread: 5 },
    cursor: ["thread"],
    reach: () => [LANES],
    arithmetic: { address, request },
    draw,
    say,
  };
})();
