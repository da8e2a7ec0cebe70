import { LAUNCHER } from "#shared/launcher.ts";
import type { AnonymousAllowance } from "#control-plane/limits/anonymous.ts";
import { renderDocument } from "#control-plane/pages/frame.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";
import type { OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";

/** What the page shows. */
interface Shown {
  readonly tools: readonly { readonly name: string; readonly title: string }[];
  readonly allowance: AnonymousAllowance;
  readonly createKey: string;
  readonly useKey: string;
}

const renderBody: (shown: Shown) => string = compileTemplate(`
<main><h1>Vantage</h1>
<p>This service examines web sites, hosts, names and mail, and monitors them, from probes in one or many places.</p>
<h2>Check something now</h2>
<form method="get" action="/">
<p><label for="tool">Tool</label><br><select id="tool" name="tool">
<% for (const tool of it.tools) { %><option value="<%= tool.name %>"><%= tool.title %></option><% } %>
</select></p>
<p><label for="q">Target: a URL, a host name or an address</label><br>
<input id="q" name="q" required maxlength="2000" size="40" autocomplete="off" autocapitalize="none" spellcheck="false"></p>
<p><button>Check</button></p>
</form>
<p>This needs no key. One address can check <%= it.allowance.requestsPerMinute %> times a minute and
<%= it.allowance.requestsPerDay %> times a day. <a href="/api/open">The same for a terminal</a></p>
<h2>Get a key</h2>
<p>A key opens all tools with all their parameters, several places at once, monitors, status pages and webhooks. The operator
of this service creates one, where the service runs:</p>
<pre><code><%= it.createKey %></code></pre>
<p>Send it with each request:</p>
<pre><code><%= it.useKey %></code></pre>
<h2>Read on</h2>
<ul><li><a href="/docs">All operations of the API</a></li>
<li><a href="/openapi.json">The same as an OpenAPI document</a></li></ul></main>
`);

/** Renders the first page of the service: what it is, a form for the tools without a key, and how to get a key. */
export function renderHome(tools: readonly OpenTool[], allowance: AnonymousAllowance, baseUrl: string): string {
  const shown = {
    tools: tools.map(({ name, contract }) => ({ name, title: contract.title })),
    allowance,
    createKey: `${LAUNCHER} keys create --plan pro`,
    useKey: `curl -H "X-API-Key: $KEY" "${baseUrl}/api/v4/check?url=example.com"`,
  };
  return renderDocument({ title: "Diagnostics and monitoring", refreshSeconds: null }, renderBody(shown));
}
