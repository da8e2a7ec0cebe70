// The rows of a list while it is open: they stay in their places, and the next ones are loaded when the end is near.

/** Rows that are shown although others have taken their places among the first. */
let kept = [];

/** Returns the ids of rows that the server shows in any case. */
export const keptRows = () => kept.join();

const idsOf = (view) => Array.from(view.querySelectorAll("#rows > [id]"), ({ id }) => id);

/** Notes the rows of a view that a fresh page has not, because it is cut before them. Reports whether there are any. */
export function noteLost(view, page) {
  if (!page.querySelector("[data-more]")) return false;
  const lost = idsOf(view).filter((id) => !page.getElementById(id) && !kept.includes(id));
  kept = [...kept, ...lost].slice(-200);
  return lost.length > 0;
}

/** Brings the rows of a fresh page into the order of the view; new ones come last. The next load of the page sorts them. */
export function keepOrder(view, page) {
  const list = page.querySelector("#rows");
  const places = new Map(idsOf(view).map((id, place) => [id, place]));
  const place = ({ id }) => places.get(id) ?? places.size;
  list?.append(...Array.from(list.children).toSorted((one, other) => place(one) - place(other)));
}

/** Calls `update` with the address of a longer list when the end of the list is near. Its link alone leads there, too. */
export function loadAhead(update) {
  const more = document.querySelector("[data-more]");
  const follow = (seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
    history.replaceState(null, "", more.href.replace(/#.*/, ""));
    update();
  };
  if (more) new IntersectionObserver(follow, { rootMargin: "0px 0px 100% 0px" }).observe(more);
}
