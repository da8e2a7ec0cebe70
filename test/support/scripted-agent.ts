import type { ChannelCredentials } from "@grpc/grpc-js";
import type { AgentMessage, Hello, HubMessage, Job } from "#shared/protocol/probe.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { PROTOCOL } from "#shared/protocol/wire.ts";
import { tokenFor, type AgentListener } from "#test/support/agent-listener.ts";
import { clientCredentials, dialProbe } from "#test/support/dial.ts";
import { callEnroll, fetchAuthority, identityOf, makeRequest } from "#test/support/enrol.ts";

/** A peer that speaks the real protocol and does exactly what the test says. */
export interface ScriptedAgent {
  readonly messages: readonly HubMessage[];
  readonly jobs: readonly Job[];
  /** Resolves with the next job that was not returned before. */
  nextJob(): Promise<Job>;
  send(message: AgentMessage): void;
  accept(job: Job): void;
  answer(job: Job, outcome: Outcome<unknown>): void;
  /** Closes the connection without ending the stream. */
  cut(): void;
  /** Resolves when the hub has ended the stream. */
  readonly ended: Promise<void>;
  /** Returns with which error the stream ended; null if it has not, or it ended without one. */
  failure(): string | null;
}

/** Returns a hello that is accepted, with parts replaced. */
export function helloOf(region: string, over: Partial<Hello> = {}): Hello {
  return {
    protocol: PROTOCOL,
    agentId: `agent-${region}`,
    version: "0.0.0",
    location: { region, city: "", country: "", asn: 0, tags: [] },
    capabilities: [],
    allowTargets: ["127.0.0.0/8"],
    allowNames: [],
    credits: 10,
    maxJobs: 10,
    sendsLog: false,
    ...over,
  };
}

/** Enrols in the hello's region, sends the hello with the id it received, and waits for the hub's first message. */
export async function attachScripted(server: AgentListener, hello: Hello): Promise<ScriptedAgent> {
  const token = await tokenFor(server, hello.location?.region ?? "", hello.agentId);
  const authority = await fetchAuthority(server.grpcPort, token);
  const request = await makeRequest();
  const own = identityOf(await callEnroll(server.grpcPort, authority, token, request.der), request);
  return startScriptedAgent(server.grpcPort, { ...hello, agentId: own.agentId }, clientCredentials(authority, own));
}

/** Dials with these credentials, sends the hello and waits for the hub's first message. */
export async function startScriptedAgent(
  port: number,
  hello: Hello,
  channel: ChannelCredentials,
): Promise<ScriptedAgent> {
  const client = dialProbe(port, channel);
  const stream = client.attach();
  const messages: HubMessage[] = [];
  const jobs: Job[] = [];
  const untaken: Job[] = [];
  const takers: ((job: Job) => void)[] = [];
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const over = () => {
    first.resolve();
    ended.resolve();
    client.close();
  };
  stream.on("data", (message: HubMessage) => {
    messages.push(message);
    first.resolve();
    if (message.body?.$case !== "job") return;
    jobs.push(message.body.value);
    const taker = takers.shift();
    if (taker === undefined) untaken.push(message.body.value);
    else taker(message.body.value);
  });
  let failure: string | null = null;
  stream.on("error", (error) => {
    failure = error.message;
    over();
  });
  stream.on("end", over);
  stream.write({ body: { $case: "hello", value: hello } });
  await first.promise;
  const send = (message: AgentMessage) => void stream.write(message);
  return {
    messages,
    jobs,
    nextJob: () => {
      const job = untaken.shift();
      return job === undefined ? new Promise((resolve) => void takers.push(resolve)) : Promise.resolve(job);
    },
    send,
    accept: ({ jobId, attempt }) => send({ body: { $case: "accepted", value: { jobId, attempt } } }),
    answer: ({ jobId, attempt }, outcome) => {
      const value = { jobId, attempt, outcome: JSON.stringify(outcome), durationMs: 1 };
      send({ body: { $case: "result", value } });
    },
    cut: () => stream.cancel(),
    ended: ended.promise,
    failure: () => failure,
  };
}
