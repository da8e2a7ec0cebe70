/** Expression: what of a page does not fit the width of the window, as sentences. */
export const MISFITS: string = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const nameOf = (one) => one.outerHTML.slice(0, 100);
  const found = [];
  const note = (words, some) => found.push(...some.map((one) => words + ": " + nameOf(one)));
  const { scrollWidth } = document.scrollingElement;
  if (scrollWidth > innerWidth) found.push("the page is " + scrollWidth + " pixels wide");
  note("a choice is cut", all(".choice").filter((one) => one.scrollHeight > one.clientHeight + 1));
  // Code is scrolled on every screen, and tables from the width of a tablet on.
  const isSideways = (one) => one.scrollWidth > one.clientWidth && /auto|scroll/.test(getComputedStyle(one).overflowX);
  if (innerWidth < 640) note("a part is scrolled sideways", all("body *:not(pre)").filter(isSideways));

  // Entries of the navigation are all seen: in one line with the name of the service where there is room.
  const links = all(".top nav a").map((one) => [one, one.getBoundingClientRect()]);
  note("an entry is out of sight", links.filter(([, { left, right }]) => left < 0 || right > innerWidth).map(([one]) => one));
  const brand = document.querySelector(".brand")?.getBoundingClientRect();
  if (innerWidth >= 640)
    note("an entry has a line of its own", links.filter(([, { top, bottom }]) => top > brand.bottom || bottom < brand.top).map(([one]) => one));

  // Words are not below each other, and a time is in one line.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement: one } = texts.currentNode;
    const text = data.trim();
    if (text.length < 3 || one.closest("svg, select, textarea, script, style, .hidden") || !one.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const { width, height } = range.getBoundingClientRect();
    if (text.length > 8 && width < 40) note("words are in a column of " + width + " pixels", [one]);
    const isTime = one.localName === "time" || /^(\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d(:\\d\\d)?( UTC)?$/.test(text);
    if (isTime && height > 2 * parseFloat(getComputedStyle(one).fontSize)) note("a time is in several lines", [one]);
  }
  // From the width of a tablet on, the columns of a list begin at the same place in all rows.
  if (innerWidth >= 640)
    for (const list of all(".rows")) {
      const places = new Set([...list.querySelectorAll(":scope > li > .what")].map((one) => one.getBoundingClientRect().left));
      if (places.size > 1) note("columns do not line up", [list]);
    }
  return found;
})()`;
