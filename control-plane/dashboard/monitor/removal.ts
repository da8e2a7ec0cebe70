import { renderHidden, renderInput, renderNote } from "#control-plane/dashboard/frame/fields.ts";
import { MONITOR } from "#control-plane/dashboard/strings/monitor.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const renderTop: (top: { readonly id: number; readonly name: string }) => string = compileTemplate(`
<h1>${MONITOR.removeTitle}</h1><p>${MONITOR.removeHint}</p><p><b><%= it.name %></b></p>
`);

const renderOpening: (form: { readonly id: number }) => string = compileTemplate(
  `<form class="stack card" method="post" action="/app/monitors/<%= it.id %>/delete">`,
);

const renderEnd: (form: { readonly id: number }) => string = compileTemplate(`
<div class="row"><button class="danger">${MONITOR.remove}</button><a href="/app/monitors/<%= it.id %>">${MONITOR.cancel}</a></div></form>
`);

/** Renders the page that asks for the name of a monitor before it is deleted. */
export function renderRemoval(removal: {
  readonly id: number;
  readonly name: string;
  readonly formToken: string;
  readonly problem: string | null;
}): string {
  const { id, name, formToken, problem } = removal;
  return [
    renderTop({ id, name }),
    problem === null ? "" : renderNote("bad", problem),
    renderOpening({ id }),
    renderHidden("_csrf", formToken),
    renderInput({ name: "name", label: MONITOR.removeLabel, isRequired: true, hasFocus: true, maxLength: 2_048 }),
    renderEnd({ id }),
  ].join("");
}
