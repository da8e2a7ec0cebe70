import { readFileSync } from "node:fs";
import { ok } from "#shared/contracts/outcome.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";
import { clientCredentials, dialProbe } from "#test/support/dial.ts";
import { fetchAuthority, identityOf, makeJoinToken, makeRequest } from "#test/support/enrol.ts";
import type { EnrollResponse } from "#shared/protocol/probe.ts";
import type { RecordedService } from "#test/recording/service.ts";
import { helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";

const TOOLS = new URL("../../shared/tools/", import.meta.url);

/** The parameters and the result of each tool in the API document, by the tool's name. */
export type ToolExamples = ReadonlyMap<
  string,
  { readonly params: Readonly<Record<string, unknown>>; readonly data: unknown }
>;

/** Reads the examples of the API document. */
export function readToolExamples(): ToolExamples {
  return new Map(
    TOOL_NAMES.toSorted().map((name) => {
      return [name, JSON.parse(readFileSync(new URL(`${name}/example.json`, TOOLS), "utf8")) as never] as const;
    }),
  );
}

/** Attaches an agent that answers each job with the example of its tool. */
export async function attachExampleAgent(
  { plane, clock }: Pick<RecordedService, "plane" | "clock">,
  region: string,
  examples: ToolExamples,
): Promise<ScriptedAgent> {
  const { authority, own } = await clock.showToday(async () => {
    const token = await makeJoinToken(plane, { region });
    const issuer = await fetchAuthority(plane.grpcPort, token);
    const request = await makeRequest();
    const enrolled = await enroll(plane.grpcPort, issuer, token, request.der);
    return { authority: issuer, own: identityOf(enrolled, request) };
  });
  // The certificate of the listener is of the recording's time, not of today's.
  const channel = clientCredentials(authority, own, { anyDate: true });
  const agent = await startScriptedAgent(
    plane.grpcPort,
    { ...helloOf(region, { capabilities: ["browser"] }), agentId: own.agentId },
    channel,
  );
  void answerAll(agent, examples);
  return agent;
}

/** Says that the agent is there, which it must each time that the recording has moved the clock. */
export function beat(agent: ScriptedAgent): void {
  agent.send({ body: { $case: "beat", value: { running: 0, credits: 10, loopLagMs: 0, waiting: 0 } } });
}

function enroll(port: number, authority: string, joinToken: string, certificateRequest: Buffer) {
  const client = dialProbe(port, clientCredentials(authority, null, { anyDate: true }));
  return new Promise<EnrollResponse>((resolve, reject) => {
    client.enroll({ joinToken, certificateRequest }, (error, response) => {
      if (error === null) resolve(response);
      else reject(error);
    });
  }).finally(() => client.close());
}

async function answerAll(agent: ScriptedAgent, examples: ToolExamples): Promise<never> {
  for (;;) {
    const job = await agent.nextJob();
    agent.accept(job);
    const example = examples.get(job.tool);
    // A job without an example stays unanswered: what a recording asks for has one.
    if (example !== undefined) agent.answer(job, ok(example.data));
  }
}
