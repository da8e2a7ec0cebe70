import type { PublicMeasurement } from "#control-plane/measurements/public.ts";
import { renderDocument } from "#control-plane/pages/frame.ts";
import { renderHeading, renderPresentation } from "#control-plane/pages/presentation.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";
import { presentLocations, toLocationAnswer } from "#shared/presentation/locations.ts";
import { present } from "#shared/presentation/present.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Maximum size of the data on the page itself, in characters; the JSON has any. */
const MOST_DATA = 32_000;
/** Maximum number of locations with a section of their own; the table compares them all. */
const MOST_SECTIONS = 6;
const MOST_TEXT = 300;
/** Reload interval of the page of a running measurement, seconds. */
const REFRESH_SECONDS = 5;

const renderAbout: (about: { readonly lines: readonly string[] }) => string = compileTemplate(
  `<% for (const line of it.lines) { %><p class="faint"><%= line %></p><% } %>`,
);
const renderPlace: (place: { readonly place: string; readonly failed: string | null }) => string = compileTemplate(
  `<h2>From <%= it.place %></h2><% if (it.failed !== null) { %><p class="bad">Failed: <%= it.failed %></p><% } %>`,
);
const renderEnd: (end: { readonly data: string | null; readonly more: number; readonly jsonPath: string }) => string =
  compileTemplate(`
<h2>All data</h2>
<% if (it.more > 0) { %><p class="faint">The JSON has <%= it.more %> more locations in full.</p><% } %>
<% if (it.data !== null) { %><details><summary>Show the data</summary><pre><%= it.data %></pre></details><% } %>
<p><a href="<%= it.jsonPath %>">This page as JSON</a></p>
`);

/**
 * Renders the page of a shared measurement by the presentation of its tool, absent for a tool that does not exist any
 * more. It needs no script. `now` is the time that dates are compared with.
 */
export function renderSharePage(shown: PublicMeasurement, contract: Contract | undefined, now: Date): string {
  const title = truncate(shown.target === null ? shown.title : `${shown.title}: ${shown.target}`);
  const jsonPath = `/s/${encodeURIComponent(shown.share_id ?? "")}?format=json`;
  const refreshSeconds = shown.finished_at === null ? REFRESH_SECONDS : null;
  const text = JSON.stringify(shown.data, null, 2);
  const more = Math.max(0, shown.data.locations.length - MOST_SECTIONS);
  const body = [
    "<main>",
    renderResults(title, shown, contract, now),
    renderEnd({ data: text.length > MOST_DATA ? null : text, more, jsonPath }),
    "</main>",
  ];
  return renderDocument({ title, refreshSeconds }, body.join(""));
}

function renderResults(title: string, shown: PublicMeasurement, contract: Contract | undefined, now: Date): string {
  const about = renderAbout({ lines: describeMeasurement(title, shown) });
  const answers = shown.data.locations.map((row) => toLocationAnswer(row));
  const [first] = answers;
  if (contract === undefined || first === undefined)
    return renderHeading({ verdict: "neutral", headline: title }) + about;
  if (answers.length === 1 && !first.answer.ok)
    return (
      renderHeading({ verdict: "bad", headline: title }) +
      about +
      renderPlace({ place: first.place, failed: first.answer.message })
    );
  const whole = presentLocations(contract, answers, now);
  const sections = answers.length === 1 ? [] : answers.slice(0, MOST_SECTIONS);
  return [
    renderHeading(whole),
    about,
    renderPresentation(whole),
    ...sections.map(({ place, answer }) => {
      if (!answer.ok) return renderPlace({ place, failed: answer.message });
      const one = present(contract, answer.data, now);
      return (
        renderPlace({ place, failed: null }) +
        renderHeading(one, "h3") +
        renderPresentation({ ...one, findings: [] }, "h3")
      );
    }),
  ].join("");
}

/** Describes what was asked, from where and when, in lines above the results. */
function describeMeasurement(title: string, shown: PublicMeasurement): readonly string[] {
  const { status, completed, total, created_at: asked, finished_at: finished, data } = shown;
  const params = Object.entries(shown.params).map(([name, value]) => `${name} ${textOf(value)}`);
  const [only] = data.locations.length === 1 ? data.locations.map((row) => toLocationAnswer(row).place) : [];
  return [
    [title, only === undefined ? `${total} locations` : `from ${only}`, `asked ${asked}`].join(" · "),
    ...(finished === null ? [`${status}: ${completed} of ${total} locations have answered`] : []),
    ...(params.length === 0 ? [] : [truncate(params.join(", "))]),
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function truncate(text: string): string {
  return toPlainLine(text, MOST_TEXT);
}
