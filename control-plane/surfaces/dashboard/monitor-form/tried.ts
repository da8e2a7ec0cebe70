import { STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { FORM } from "#control-plane/surfaces/dashboard/strings/monitor-form.ts";
import type { Tried } from "#control-plane/monitors/try/run.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const render: (tried: {
  readonly tone: string;
  readonly headline: string;
  readonly cause: string | null;
  readonly checks: readonly {
    readonly location: string;
    readonly word: string;
    readonly tone: string;
    readonly response: string;
    readonly error: string;
  }[];
  readonly warnings: readonly string[];
}) => string = compileTemplate(`
<section class="note <%= it.tone %>" role="status"><p><b><%= it.headline %></b></p>
<% if (it.cause !== null) { %><p><%= it.cause %></p><% } %>
<% if (it.checks.length > 0) { %><ul><% for (const check of it.checks) { %>
<li><%= check.location %>: <span class="badge <%= check.tone %>"><%= check.word %></span> <%= check.response %> <%= check.error %></li><% } %></ul><% } %>
<% for (const warning of it.warnings) { %><p><%= warning %></p><% } %></section>
`);

const HEADLINES = {
  up: FORM.triedUp,
  degraded: FORM.triedDegraded,
  down: FORM.triedDown,
  unknown: FORM.triedUnknown,
} as const;

/** Renders what the try of a monitor has found, and what the user should know beside. */
export function renderTried(tried: Tried, warnings: readonly { readonly message: string }[]): string {
  return render({
    tone: tried.checked ? STATE_WORDS[tried.verdict].tone : "",
    headline: tried.checked ? HEADLINES[tried.verdict] : (tried.message ?? ""),
    cause: tried.cause?.message ?? null,
    checks: tried.checks.map(({ location, status, response_time_ms: ms, error }) => ({
      location,
      word: STATE_WORDS[status].word,
      tone: STATE_WORDS[status].tone,
      response: ms === null ? "" : `${ms} ms`,
      error: error?.message ?? "",
    })),
    warnings: warnings.map(({ message }) => message),
  });
}
