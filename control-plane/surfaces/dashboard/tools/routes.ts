import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Contract, TOOLSETS } from "#shared/tools/define.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import type { CheckRequest } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { problemsOf } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { sendPage, sendPageInPieces } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { collectArrivals, renderArrivals, type Arrivals } from "#control-plane/surfaces/dashboard/tools/arrivals.ts";
import {
  renderPath,
  renderToolForm,
  renderToolHead,
  type ToolForm,
} from "#control-plane/surfaces/dashboard/tools/form.ts";
import { renderRun, renderShared } from "#control-plane/surfaces/dashboard/tools/result.ts";
import {
  givenInQuery,
  readTyped,
  toCall,
  writeAddress,
  type TypedCall,
} from "#control-plane/surfaces/dashboard/tools/values.ts";
import { Refusal, requireFound } from "#control-plane/http/errors.ts";
import { whenGone } from "#control-plane/http/gone.ts";
import { factsOf } from "#control-plane/http/request.ts";
import { shareAnswer } from "#control-plane/checks/measurements/share-answer.ts";
import { regionsOf } from "#control-plane/surfaces/catalogue/region-routes.ts";
import { readToolCall } from "#control-plane/checks/tool-requests/read-request.ts";
import { refuseUnanswered, type AnsweredCheck } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

interface Named {
  Params: { name: string };
}

const LONGEST_SEARCH = 200;

/** Registers /app/tools: every tool of the catalogue with its form, which runs it. */
export function registerToolPages(scope: FastifyInstance, deps: Dashboard): void {
  const { guard } = deps;
  scope.route({
    ...guard.page({ needs: "read" }),
    url: "/app/tools",
    schema: { hide: true },
    handler(request, reply) {
      const { q } = request.query as { readonly q?: unknown };
      const text = typeof q === "string" ? q.trim().slice(0, LONGEST_SEARCH) : "";
      const session = memberOf(request);
      return sendPage(request, reply, { title: "Tools", session, section: "tools", body: renderTools(text) });
    },
  });
  scope.route<Named>({
    ...guard.page({ needs: "read" }),
    url: "/app/tools/:name",
    schema: { hide: true },
    handler(request, reply) {
      const contract = contractOf(request);
      const typed = readTyped(contract, givenInQuery(request.query as Readonly<Record<string, unknown>>));
      const form = renderForm(request, deps, { contract, typed, problem: null });
      return sendTool(request, reply, contract, html`${renderToolHead(contract)}${form}`);
    },
  });
  scope.route<Named>({
    ...guard.form({ needs: "write" }),
    url: "/app/tools/:name",
    schema: { hide: true },
    handler: (request, reply) => runTool(request, reply, deps, contractOf(request)),
  });
}

function contractOf({ params: { name } }: FastifyRequest<Named>): Contract {
  return requireFound(CONTRACTS.find((contract) => contract.name === name) ?? null, "tool");
}

/**
 * Runs a tool as a call of the API does: limits, scope of the plan, parameters, check, share. A check at several locations is
 * answered in pieces: a browser shows each result when it comes, and needs no script, no key and no second request for
 * it. What is refused before the first job, and the answer of one location, is an ordinary page with its status.
 */
async function runTool(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Dashboard,
  contract: Contract,
): Promise<FastifyReply> {
  const { accountId, plan: planName } = memberOf(request);
  const plan = deps.plans[planName];
  const run: FormRun = { request, deps, contract, typed: readTyped(contract, readForm(request)) };
  try {
    await deps.gate.admitMember(reply, { accountId, plan }, contract.scope);
    const { params, locations, share } = readToolCall(contract, toCall(contract, run.typed), "text");
    const asked = { contract, params, locations, accountId };
    const arrivals = collectArrivals();
    const limits = { maxLocations: plan.locations, signal: whenGone(reply) };
    const onEvent: CheckRequest["onEvent"] = (event, planned) => arrivals.onEvent(event, planned);
    let hasBegun = false;
    const running = runCheck(deps.checks, { ...asked, ...limits, onEvent }).finally(() => arrivals.end());
    const finish = async (ended: CheckAnswer): Promise<Html> => {
      const { durationMs } = factsOf(request);
      const shareId = share ? await shareAnswer(deps.measurements, asked, ended, durationMs) : null;
      const answered = refuseUnanswered(ended, shareId);
      return renderFound(run, answered, { shareId, level: hasBegun ? "h2" : "h1" });
    };
    const early = await Promise.race([running, arrivals.several]);
    if (early !== null) {
      return await sendTool(request, reply, contract, html`${renderPath(contract)}${await finish(early)}`);
    }
    hasBegun = true;
    return sendPageInPieces(request, reply, pageOf(request, contract), inPieces(run, arrivals, running.then(finish)));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, code, details } = error;
    // What the target did is an answer: proxies replace the pages of a status 502.
    reply.code(code === "request_failed" ? 200 : status).headers(details.headers ?? {});
    return sendTool(request, reply, contract, html`${renderToolHead(contract)}${renderRefused(run, error)}`);
  }
}

/** A run of the form. */
interface FormRun {
  readonly request: FastifyRequest;
  readonly deps: Dashboard;
  readonly contract: Contract;
  readonly typed: TypedCall;
}

/** Renders the results as they come, then the result of all. Its status is sent: what fails now is a sentence. */
function inPieces(run: FormRun, arrivals: Arrivals, found: Promise<Html>): AsyncGenerator<string> {
  const { request, deps, contract } = run;
  // Caught at once: a client that has gone away reads no piece.
  const end = found.catch((error: unknown) => {
    const isRefusal = error instanceof Refusal;
    if (!isRefusal) request.log.error({ err: error }, "a run of a tool has failed");
    const refusal = isRefusal ? error : new Refusal("internal_error", "This did not work. Run it again.");
    return renderRefused(run, refusal);
  });
  async function* pieces(): AsyncGenerator<string> {
    yield String(renderToolHead(contract));
    yield* renderArrivals(contract, arrivals, deps.clock);
    yield String(await end);
  }
  return pieces();
}

/** Renders what was found, with the form below. */
function renderFound(
  run: FormRun,
  answered: AnsweredCheck,
  { shareId, level }: { readonly shareId: string | null; readonly level: "h1" | "h2" },
): Html {
  if (answered.kind === "dry_run") throw new Error("a form asks for no dry run");
  const { request, deps, contract, typed } = run;
  const { clock, baseUrl } = deps;
  const call = toCall(contract, typed);
  const address = writeAddress(contract, typed);
  const found = renderRun({ contract, answered, call, address, shareId, now: clock.now(), baseUrl, level });
  return html`${found}<h2>Run it again</h2>${renderForm(request, deps, { contract, typed, problem: null })}`;
}

/** Renders the form with what was refused beside its field. */
function renderRefused({ request, deps, contract, typed }: FormRun, refusal: Refusal): Html {
  const { code, details } = refusal;
  const field = code === "target_not_allowed" ? (contract.target?.param ?? null) : (details.field ?? null);
  const [message = details.message] = problemsOf(refusal).values();
  const problem = { field, message };
  return html`
    ${details.shareId !== undefined && renderShared(deps.baseUrl, details.shareId)}
    ${renderForm(request, deps, { contract, typed, problem })}`;
}

function sendTool(request: FastifyRequest, reply: FastifyReply, contract: Contract, body: Html): Promise<FastifyReply> {
  return sendPage(request, reply, { ...pageOf(request, contract), body });
}

function pageOf(request: FastifyRequest, { title }: Contract) {
  return { title, session: memberOf(request), section: "tools" } as const;
}

function renderForm(
  request: FastifyRequest,
  { checks, presence, plans }: Dashboard,
  form: { readonly contract: Contract; readonly typed: TypedCall; readonly problem: ToolForm["problem"] },
): Html {
  const { accountId, plan, role, formToken } = memberOf(request);
  return renderToolForm({
    ...form,
    regions: regionsOf(checks.hub.roster, presence, accountId).filter(({ online }) => online > 0),
    mostLocations: plans[plan].locations,
    formToken,
    canRun: isAllowed(role, "write"),
  });
}

/** Groups of tools by their toolset. */
const GROUPS = {
  web: "Web sites and HTTP",
  page: "Pages",
  mail: "Mail",
  dns: "DNS",
  tls: "TLS",
  network: "Network",
  registry: "Registries",
  platform: "This service",
} as const;

/** Renders the tools by their group; `text`: what their name, title or summary contains, in any case. */
function renderTools(text: string): Html {
  const wanted = text.toLowerCase();
  const found = CONTRACTS.filter(({ name, title, summary }) =>
    `${name} ${title} ${summary}`.toLowerCase().includes(wanted),
  );
  const groups = TOOLSETS.map((name) => ({
    name,
    title: GROUPS[name],
    tools: found.filter((tool) => tool.toolset === name),
  }));
  const shown = groups.filter(({ tools }) => tools.length > 0);
  return html`
    <h1>Tools</h1>
    <form class="filter" method="get" action="/app/tools" role="search">
      <div class="field"><label for="q">Search</label><input id="q" name="q" type="search" value="${text}" maxlength="200" autocomplete="off" data-search></div>
      <div class="row"><button>Find</button>${text !== "" && html` <a href="/app/tools">All tools</a>`}</div></form>
    ${shown.length === 0 && html`<div class="card"><p>No tool matches.</p></div>`}
    ${shown.length > 1 && html`<nav aria-label="Groups of tools"><ul class="counts">${shown.map(({ name, title }) => html`<li><a href="#${name}">${title}</a></li>`)}</ul></nav>`}
    ${shown.map(({ name, title, tools }) => html`<h2 id="${name}">${title}</h2><ul class="kinds">${tools.map(renderTool)}</ul>`)}`;
}

function renderTool({ name, title, summary }: Contract): Html {
  return html`<li><a href="/app/tools/${name}" data-row><b>${title}</b> <span class="faint">${summary}</span></a></li>`;
}
