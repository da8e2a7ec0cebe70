import { CONTRACTS } from "#shared/tools/index.ts";
import { TOOLSETS } from "#shared/tools/define.ts";
import { TOOLS } from "#control-plane/surfaces/dashboard/strings/tools.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const render: (list: {
  readonly text: string;
  readonly count: number;
  readonly groups: readonly {
    readonly name: string;
    readonly title: string;
    readonly tools: readonly { readonly name: string; readonly title: string; readonly summary: string }[];
  }[];
}) => string = compileTemplate(`
<h1>${TOOLS.title}</h1>
<form class="filter" method="get" action="/app/tools" role="search">
<div class="field"><label for="q">${TOOLS.search}</label><input id="q" name="q" type="search" value="<%= it.text %>" maxlength="200" autocomplete="off" data-search></div>
<div class="row"><button>${TOOLS.find}</button><% if (it.text !== "") { %> <a href="/app/tools">${TOOLS.all}</a><% } %></div></form>
<% if (it.count === 0) { %><div class="card"><p>${TOOLS.noMatch}</p></div><% } %>
<% if (it.groups.length > 1) { %><nav aria-label="${TOOLS.groupsLabel}"><ul class="counts"><% for (const group of it.groups) { %><li><a href="#<%= group.name %>"><%= group.title %></a></li><% } %></ul></nav><% } %>
<% for (const group of it.groups) { %><h2 id="<%= group.name %>"><%= group.title %></h2><ul class="kinds">
<% for (const tool of group.tools) { %><li><a href="/app/tools/<%= tool.name %>" data-row><b><%= tool.title %></b> <span class="faint"><%= tool.summary %></span></a></li><% } %>
</ul><% } %>
`);

/** Renders the tools by their group; `text`: what their name, title or summary contains, in any case. */
export function renderTools(text: string): string {
  const wanted = text.toLowerCase();
  const found = CONTRACTS.filter(({ name, title, summary }) =>
    `${name} ${title} ${summary}`.toLowerCase().includes(wanted),
  );
  const groups = TOOLSETS.flatMap((toolset) => {
    const tools = found.filter((tool) => tool.toolset === toolset);
    return tools.length === 0 ? [] : [{ name: toolset, title: TOOLS.groups[toolset], tools }];
  });
  return render({ text, count: found.length, groups });
}
