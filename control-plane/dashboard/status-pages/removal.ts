import { renderHidden, renderInput, renderNote } from "#control-plane/dashboard/frame/fields.ts";
import { STATUS_PAGES } from "#control-plane/dashboard/strings/status-pages.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";
import { MOST_SLUG } from "#control-plane/status-pages/settings/slug.ts";

const renderTop: (page: { readonly title: string; readonly slug: string }) => string = compileTemplate(`
<h1>${STATUS_PAGES.removeTitle}</h1><p>${STATUS_PAGES.removeHint}</p><p><b dir="auto"><%= it.title %></b> (<code><%= it.slug %></code>)</p>
`);

const renderOpening: (page: { readonly id: number }) => string = compileTemplate(
  `<form class="stack card" method="post" action="/app/status-pages/<%= it.id %>/delete">`,
);

const renderEnd: (page: { readonly id: number }) => string = compileTemplate(`
<div class="row"><button class="danger">${STATUS_PAGES.delete}</button><a href="/app/status-pages/<%= it.id %>">${STATUS_PAGES.cancel}</a></div></form>
`);

/** Renders the page that asks for the slug of a status page before it is deleted. */
export function renderRemoval(
  page: { readonly id: number; readonly title: string; readonly slug: string },
  formToken: string,
  problem: string | null,
): string {
  return [
    renderTop(page),
    problem === null ? "" : renderNote("bad", problem),
    renderOpening(page),
    renderHidden("_csrf", formToken),
    renderInput({
      name: "slug",
      label: STATUS_PAGES.removeLabel,
      isRequired: true,
      hasFocus: true,
      maxLength: MOST_SLUG,
    }),
    renderEnd(page),
  ].join("");
}
