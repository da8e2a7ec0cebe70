import { Type } from "typebox";
import type { Clock } from "#shared/time/clock.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { errorBody } from "#control-plane/http/envelope.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer, factsOf } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { showPublic, type PublicMeasurement } from "#control-plane/checks/measurements/public.ts";
import { PAGE_POLICY, renderMessage, renderDocument } from "#control-plane/core/pages/layout.ts";
import { isFinal } from "#control-plane/checks/jobs/durable-run/status.ts";
import { renderAnswers } from "#control-plane/core/pages/answers.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { toLocationAnswer } from "#shared/tools/present-locations.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Maximum age of cached copies: a finished result does not change but can be deleted. */
const CACHE_SECONDS = 60;

/** Registers GET /s/<id>: a shared result for anyone with the link, as a page or as JSON. */
export function registerSharedPage(
  server: FastifyInstance,
  deps: { readonly visits: AddressLimiter; readonly measurements: Measurements; readonly clock: Clock },
): void {
  const { visits, measurements, clock } = deps;
  server.route<{ Params: { id: string } }>({
    method: "GET",
    url: "/s/:id",
    config: {
      renderError: ({ code, details }, request, reply) => {
        describe(request, reply);
        if (wantsJson(request)) return errorBody("v4", code, details, factsOf(request));
        const heading = code === "not_found" ? "Not found" : "Not available";
        return String(renderMessage(heading, details.message));
      },
    },
    schema: operation({
      id: "read_shared",
      tag: "Measurements",
      summary: "Get a shared result by its id",
      description:
        "HTML by default; JSON with Accept: application/json or ?format=json. Anyone who has the id can read it.",
      security: "none",
      data: Type.Unknown({ description: "A measurement without the owner's data: id, account, free text" }),
      query: Type.Object({
        format: Type.Optional(
          Type.String({ enum: ["json", "html"], description: "Format; by default the Accept header decides" }),
        ),
      }),
      errors: ["not_found", "rate_limit_exceeded"],
    }),
    handler: async (request, reply) => {
      takeVisit(visits, request);
      const found = await measurements.findShared(request.params.id);
      if (found === null) throw new Refusal("not_found", "No shared result has this id, or it has expired.");
      const contract = measurements.contract(found.measurement.tool);
      const shown = showPublic(contract, found);
      describe(request, reply);
      if (isFinal(found.measurement.status)) reply.header("cache-control", `public, max-age=${CACHE_SECONDS}`);
      return wantsJson(request) ? answer(request, shown) : String(renderSharePage(shown, contract, clock.now()));
    },
  });
}

function describe(request: FastifyRequest, reply: FastifyReply): void {
  const json = wantsJson(request);
  reply.type(json ? "application/json; charset=utf-8" : "text/html; charset=utf-8");
  reply.header("content-security-policy", PAGE_POLICY).header("x-robots-tag", "noindex").header("vary", "accept");
}

/** Reports whether to send JSON: by `format`, else if Accept names JSON and not HTML. */
function wantsJson(request: FastifyRequest): boolean {
  const { format } = request.query as { readonly format?: unknown };
  if (format === "json" || format === "html") return format === "json";
  const accept = request.headers.accept ?? "";
  return /application\/json/i.test(accept) && !/text\/html/i.test(accept);
}

/** Maximum size of the data on the page itself, in characters; the JSON has any. */
const MOST_DATA = 32_000;
const MOST_TEXT = 300;
/** Reload interval of the page of a running measurement, seconds. */
const REFRESH_SECONDS = 5;

/**
 * Renders the page of a shared measurement by the presentation of its tool, absent for a tool that does not exist any
 * more. It needs no script. `now` is the time that dates are compared with.
 */
export function renderSharePage(shown: PublicMeasurement, contract: Contract | undefined, now: Date): Html {
  const title = truncate(shown.target === null ? shown.title : `${shown.title}: ${shown.target}`);
  const answers = shown.data.locations.map((row) => toLocationAnswer(row));
  const data = JSON.stringify(shown.data, null, 2);
  const body = html`
    ${renderAnswers({ contract, answers, title, about: describeMeasurement(title, shown), now })}
    <h2>All data</h2>
    ${data.length <= MOST_DATA && html`<details><summary>Show the data</summary><pre role="group" tabindex="0" aria-label="Data">${data}</pre></details>`}
    <p><a href="/s/${encodeURIComponent(shown.share_id ?? "")}?format=json">This page as JSON</a></p>
    <p><a href="/">Check something yourself</a></p>`;
  return renderDocument({ title, refreshSeconds: shown.finished_at === null ? REFRESH_SECONDS : null }, body);
}

/** Describes the target, the places, the time and the parameters in lines above the results. */
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
