import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { argumentsSchema, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import type { McpTool, ToolAnswer } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { refuseUnanswered } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { readLocations } from "#control-plane/checks/tool-requests/read-request.ts";
import type { MultiData } from "#control-plane/checks/answer.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { presentLocations, toLocationAnswer } from "#shared/tools/present-locations.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";

/** Names that do not follow the rule; kept because clients use them. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["check", "check_headers"],
  ["ai-check", "check_ai"],
  ["email-check", "check_email"],
]);

/** Returns the MCP name of a tool: check_ and the tool's name, with underscores for hyphens. */
export function mcpName(tool: string): string {
  return EXCEPTIONS.get(tool) ?? `check_${tool.replaceAll("-", "_")}`;
}

/** Creates the MCP tool of a contract: the same check and the same errors as over REST. */
export function checkTool(checks: CheckContext, contract: Contract): McpTool {
  const inputSchema = argumentsSchema(contract);
  const allowed = Object.keys(inputSchema["properties"] as object);
  return {
    name: mcpName(contract.name),
    title: contract.title,
    description: `${contract.summary}.`,
    scope: contract.scope,
    toolset: contract.toolset,
    inputSchema,
    outputSchema: publishResult(contract.result),
    openWorld: true,
    async call({ accountId, plan }, args, signal) {
      try {
        const parsed = parseToolParams(contract, args, { from: "strict", unknown: "refuse", readOnly: ["locations"] });
        if (!parsed.ok) throw refuseField(withAllowed(parsed.problem, allowed));
        const answered = refuseUnanswered(
          await runCheck(checks, {
            contract,
            params: parsed.value,
            accountId,
            locations: readLocations(args["locations"], "json"),
            maxLocations: plan.locations,
            signal,
          }),
        );
        return answerOf(contract, answered, checks.clock.now());
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { ok: false, code: error.code, details: error.details };
      }
    },
  };
}

function answerOf(contract: Contract, answered: ReturnType<typeof refuseUnanswered>, now: Date): ToolAnswer {
  if (answered.kind === "multi") {
    return { ok: true, data: { ...answered.data }, text: writeLocations(contract, answered.data, now) };
  }
  const data: unknown = answered.kind === "single" && answered.outcome.status === "ok" ? answered.outcome.data : null;
  return { ok: true, data: data as Readonly<Record<string, unknown>>, text: writeResult(contract, data, now) };
}

/** Adds the allowed names, `locations` included, to a problem with an unknown argument. */
function withAllowed<P extends { readonly reason: string; readonly message: string }>(
  problem: P,
  allowed: readonly string[],
): P {
  return problem.reason === "unknown"
    ? { ...problem, message: `no such argument; allowed: ${allowed.join(", ")}` }
    : problem;
}

/** Maximum size of the text of one location, in octets. */
const MOST_BYTES = 2_000;
const CUT = "(more in structuredContent)";

/** Writes the result of one location for a model: verdict, headline, facts and findings in at most 2,000 octets. */
export function writeResult(contract: Contract, data: unknown, now: Date): string {
  return writePresentation(present(contract, data, now));
}

/** Writes the results of several locations: what they have in common and where they differ, then each by itself. */
export function writeLocations(contract: Contract, { locations }: MultiData, now: Date): string {
  const answers = locations.map((row) => toLocationAnswer(row));
  const each = answers.map(({ place, answer }) => {
    const text = answer.ok ? writeResult(contract, answer.data, now) : `failed: ${showHidden(answer.message)}`;
    return keep([`From ${showHidden(place)}`, ...text.split("\n")]);
  });
  if (each.length === 1) return each.join("");
  return [writePresentation(presentLocations(contract, answers, now)), ...each].join("\n\n");
}

function writePresentation({ verdict, headline, facts, findings }: Presentation): string {
  return keep([
    `${verdict}: ${showHidden(headline)}`,
    ...facts.map(({ label, value, unit }) => `${label}: ${showHidden(value)}${unit === undefined ? "" : ` ${unit}`}`),
    ...findings.map(({ severity, message, how, where }) => {
      const about = where === null ? "" : ` (${showHidden(where)})`;
      return `${severity}: ${showHidden(message)}${about}${how === null ? "" : ` Fix: ${showHidden(how)}`}`;
    }),
  ]);
}

/** Joins the first lines that fit into the size of one location. */
function keep(lines: readonly string[]): string {
  const kept: string[] = [];
  let room = MOST_BYTES - Buffer.byteLength(CUT) - 1;
  for (const line of lines) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0) return [...kept, CUT].join("\n");
    kept.push(line);
  }
  return kept.join("\n");
}
