// What is wrong with a page as it is shown, as a list of lines: text that does
// not stand out from what is behind it (4.5 to 1, 3 to 1 for large text, and for
// the edge of what can be filled in or pressed), a page that scrolls sideways,
// names that are missing, ids that are there twice.
(() => {
  const wrong = [];
  const say = (what, e) => {
    const text = what + ": <" + e.tagName.toLowerCase() + (e.className ? " class=" + e.className : "") + "> " + (e.textContent || "").trim().slice(0, 40);
    if (wrong.length < 10 && !wrong.includes(text)) wrong.push(text);
  };
  const rgba = (s) => { const n = s.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const behind = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      layers.push(c);
      if (c[3] === 1) break;
    }
    let color = [255, 255, 255];
    for (const c of layers.reverse()) color = over(c, color);
    return color;
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
    if (!own || e.getClientRects().length === 0 || e.closest(".vh, .skip, script, dialog:not([open])")) continue;
    const style = getComputedStyle(e), back = behind(e), front = over(rgba(style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) say("contrast " + ((a + 0.05) / (b + 0.05)).toFixed(2), e);
    if (size < 11) say("small " + size, e);
  }
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((x, y) => y - x); return (x + 0.05) / (y + 0.05); };
  for (const e of document.querySelectorAll("input:not([type=hidden], [type=checkbox]), select, .button:not(.off)")) {
    if (e.getClientRects().length === 0) continue;
    const edge = ratio(over(rgba(getComputedStyle(e).borderTopColor), behind(e.parentElement)), behind(e.parentElement));
    if (edge < 3) say("edge " + edge.toFixed(2), e);
  }
  const width = document.documentElement.clientWidth; // a phone zooms out until innerWidth has everything
  if (document.documentElement.scrollWidth > width) {
    wrong.push("scrolls sideways: " + document.documentElement.scrollWidth + " in " + width);
    for (const e of document.body.querySelectorAll("*")) if (e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, .mini")) say("sticks out", e);
  }
  for (const e of document.querySelectorAll("input:not([type=hidden]), select")) if (e.labels.length === 0) say("no label", e);
  for (const e of document.querySelectorAll("a[href], button")) if (!(e.textContent.trim() || e.getAttribute("aria-label"))) say("no name", e);
  for (const e of document.querySelectorAll("[aria-labelledby]")) if (!document.getElementById(e.getAttribute("aria-labelledby"))) say("no such label", e);
  const seen = new Set();
  for (const e of document.querySelectorAll("[id]")) { if (seen.has(e.id)) say("twice #" + e.id, e); seen.add(e.id); }
  for (const [what, n] of [["main", 1], ["header.bar", 1], ["h1", 1]]) {
    if (document.querySelectorAll(what).length < n) wrong.push("no " + what);
  }
  if (!document.documentElement.lang) wrong.push("no language");
  return wrong;
})()
