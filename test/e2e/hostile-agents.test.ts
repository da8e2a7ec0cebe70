import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "#test/support/free-port.ts";
import { failed, ok } from "#shared/contracts/outcome.ts";
import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { AgentMessage, type Hello, type Job } from "#shared/protocol/probe.ts";
import { MAX_MESSAGE_BYTES } from "#shared/protocol/wire.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { daysFromNow, issue } from "#test/servers/pki.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { systemClock } from "#test/support/clock.ts";
import { clientCredentials } from "#test/support/dial.ts";
import {
  callEnroll,
  enrol,
  fetchAuthority,
  identityOf,
  makeJoinToken,
  makeRequest,
  type AgentIdentity,
} from "#test/support/enrol.ts";
import { expectNoticed } from "#test/support/noticed.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { sendFrame, sendOctets } from "#test/support/raw-stream.ts";
import { helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";

/** Interval between calls of the good agent's caller, in milliseconds, below an account's limit. */
const CALL_EVERY_MS = 300;

let database: TestDatabase;
let plane: ControlPlaneProcess;
let metricsUrl = "";
let web: HttpServer;
let good: AgentProcess;
let key = "";
/** Statuses of the good agent's checks from the first attack to the last. */
const answers: number[] = [];
const walk = new AbortController();
let walking: Promise<void>;
const streams: ScriptedAgent[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  plane = await startControlPlaneProcess(database.url, { settings: { VANTAGE_METRICS_ADDR: `127.0.0.1:${port}` } });
  key = await plane.createKey();
  web = await startHttpServer();
  good = await startAgent(plane, "good");
  walking = callRepeatedly();
});
afterAll(async () => {
  walk.abort();
  await walking;
  for (const stream of streams) stream.cut();
  await good?.stop();
  await plane?.end("SIGTERM");
  await web?.close();
  await database?.drop();
});

async function callRepeatedly(): Promise<void> {
  for (let turn = 0; !walk.signal.aborted; turn += 1) {
    const answer = await plane.call(`/api/v4/check?url=${web.url}/?turn=${turn}&locations=good`, { key });
    answers.push(answer.status);
    await sleep(CALL_EVERY_MS);
  }
}

let asked = 0;
/** Returns the status of a call to the good agent. */
async function goodStatus(): Promise<number> {
  asked += 1;
  return (await plane.call(`/api/v4/check?url=${web.url}/?asked=${asked}&locations=good`, { key })).status;
}

const noticed = <T>(series: string, words: readonly string[], attack: () => Promise<T> | T, times = 1): Promise<T> =>
  expectNoticed({ plane, metricsUrl }, series, words, attack, times);
const rejected = (reason: string): string => `vantage_agents_rejected_total{reason="${reason}"}`;
const dropped = (reason: string): string => `vantage_agent_messages_dropped_total{reason="${reason}"}`;
const enrolments = (result: string): string => `vantage_enrolments_total{result="${result}"}`;

async function attach(own: AgentIdentity, region: string, over: Partial<Hello> = {}): Promise<ScriptedAgent> {
  const hello = helloOf(region, { agentId: own.agentId, ...over });
  const agent = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate, own));
  streams.push(agent);
  return agent;
}

/**
 * Returns the hub's first message: its refusal, or the name of another message; null if the stream ended without one.
 */
function firstMessage({ messages }: ScriptedAgent): unknown {
  const body = messages[0]?.body;
  return body === undefined ? null : body.$case === "rejected" ? body.value : body.$case;
}

/** Results of a monitor's check that no honest agent sends. */
const RESULT: MonitorResult = {
  verdict: "up",
  response_ms: 20,
  http_status: 200,
  fault: null,
  phases: null,
  certificate_fingerprint: null,
  whole: null,
  elapsed_ms: 20,
};
const PHASES = { redirect_ms: 0, dns_ms: 1e300, connect_ms: 1, tls_ms: 1, processing_ms: 1 };
const UNSTORABLE = "a\u0000b\ud800";
const BAD_RESULTS = [
  ok({ ...RESULT, response_ms: 1e12 }),
  ok({ ...RESULT, http_status: 70_000 }),
  ok({ ...RESULT, elapsed_ms: 1e15 }),
  ok({ ...RESULT, phases: PHASES }),
  failed("response", "probe", "made_up", UNSTORABLE),
  failed("connect", "target", "made_up", UNSTORABLE),
  ok({ ...RESULT, verdict: "down", fault: { stage: "connect", reason: UNSTORABLE, message: UNSTORABLE } }),
];

const OWN_WORDS = "said by the job's own agent";
const OWN_RESULT = failed("connect", "target", "refused", OWN_WORDS);
const REFUSED = { reason: "identity", retry: false };
const encode = (hello: Hello): Buffer =>
  Buffer.from(AgentMessage.encode({ body: { $case: "hello", value: hello } }).finish());

/** Returns the next job whose parameters contain a text: monitors of other tests can be checked at the same location. */
async function jobWith(agent: Pick<ScriptedAgent, "nextJob">, text: string): Promise<Job> {
  const job = await agent.nextJob();
  return job.params.includes(text) ? job : jobWith(agent, text);
}

describe("an enrolled agent that becomes hostile", () => {
  let own: AgentIdentity;
  beforeEach(async () => {
    own = await enrol(plane, "turned");
  });

  it("cannot forge the result of another agent's job, which ends with its own agent's result", async () => {
    const victim = await attach(await enrol(plane, "victim"), "victim");
    const forger = await attach(own, "turned");
    const path = `/api/v4/check?url=${web.url}/?theirs&locations=victim`;
    const answer = plane.call(path, { key });
    const job = await victim.nextJob();
    victim.accept(job);
    const forgeries = (target: Job): void => {
      forger.accept(target);
      const { jobId, attempt } = target;
      const data = JSON.stringify({ forged: true });
      forger.send({ body: { $case: "progress", value: { jobId, attempt, kind: "reply", data } } });
      forger.send({ body: { $case: "declined", value: { jobId, attempt, reason: "busy" } } });
      forger.answer(target, ok({ forged: true }));
    };
    const words = ["sent a message for a job of another agent", own.agentId, job.jobId];
    await noticed(
      dropped("foreign"),
      words,
      async () => {
        for (const attempt of [job.attempt, job.attempt + 1]) forgeries({ ...job, attempt });
      },
      8,
    );
    await noticed(dropped("unknown"), [], async () => forger.answer({ ...job, jobId: "made-up-1" }, ok({})));
    victim.answer(job, OWN_RESULT);
    const { status: code, text } = await answer;
    expect(code).toBe(200);
    expect(text).toContain(OWN_WORDS);
    expect(text).not.toContain("forged");
    victim.cut();
    forger.cut();
  });

  it("cannot stop the recording of other accounts' checks, whatever numbers and texts it sends", async () => {
    const agent = await attach(own, "turned");
    const theirs = await plane.createKey("captain");
    const monitorAt = async (region: string, owner: string, path = ""): Promise<number> => {
      const body = { url: `${web.url}/${path}`, check_type: "http", interval_minutes: 1, locations: [region] };
      const made = await plane.call("/api/v4/monitors", { key: owner, body });
      expect(made.status, made.text).toBe(201);
      return (made.body.data as { id: number }).id;
    };
    const checksOf = async (id: number, owner: string) => {
      const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key: owner });
      return (body.data as { checks: readonly { status: string; error: { reason: string } | null }[] }).checks;
    };
    const ids: number[] = [];
    for (const [index, outcome] of BAD_RESULTS.entries()) {
      const path = `?bad=${index}`;
      ids.push(await monitorAt("turned", theirs, path));
      // Not the re-check of the monitor before it.
      const job = await jobWith(agent, path);
      agent.accept(job);
      agent.answer(job, outcome);
    }
    const other = await plane.createKey("captain");
    const neighbour = await monitorAt("good", other);
    await expect.poll(async () => (await checksOf(neighbour, other)).map(({ status: found }) => found)).toContain("up");
    for (const id of ids) await expect.poll(() => checksOf(id, theirs)).not.toEqual([]);
    const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 30_000 });
    const faults = await sql<{ source: string; reason: string; message: string }[]>`
      select distinct on (monitor_id) fault::jsonb ->> 'source' as source, fault::jsonb ->> 'reason' as reason,
        fault::jsonb ->> 'message' as message
      from checks where monitor_id = any(${ids}::bigint[]) order by monitor_id, id`;
    await sql.end();
    const invalid = { source: "probe", reason: "invalid_result" };
    expect(faults).toMatchObject([
      invalid,
      invalid,
      invalid,
      invalid,
      { source: "probe", reason: "made_up", message: "a b\ufffd" },
      { source: "target", reason: "made_up", message: "a b\ufffd" },
      { source: "target", reason: "a b\ufffd", message: "a b\ufffd" },
    ]);
    agent.cut();
  });

  it("ends its own stream with a message that is too large, or that claims to be", async () => {
    const words = ["agent message refused", "larger than max"];
    const hello = encode(helloOf("turned", { agentId: own.agentId }));
    const channel = clientCredentials(own.caCertificate, own);
    await noticed(rejected("protocol"), words, () =>
      sendOctets(plane.grpcPort, channel, [hello, Buffer.alloc(MAX_MESSAGE_BYTES + 1)]),
    );
    const lie = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    await noticed(rejected("protocol"), words, () => sendFrame(plane.grpcPort, own, lie));
    expect(await goodStatus()).toBe(200);
  });

  it("ends its own stream with invalid octets, before its hello and after it", async () => {
    const words = ["agent message refused", "Error deserializing"];
    const channel = clientCredentials(own.caCertificate, own);
    // A hello of five octets whose second field claims 127.
    const cutShort = Buffer.from([0x0a, 0x05, 0x12, 0x7f, 0x61, 0x61, 0x61]);
    const hello = encode(helloOf("turned", { agentId: own.agentId }));
    for (const messages of [[cutShort], [hello, cutShort]]) {
      await noticed(rejected("protocol"), words, () => sendOctets(plane.grpcPort, channel, messages));
    }
    for (let round = 0; round < 20; round += 1) await sendOctets(plane.grpcPort, channel, [randomBytes(1_024)]);
    expect(await goodStatus()).toBe(200);
  });

  it("is refused if it sends another message before the hello, or the hello twice", async () => {
    const channel = clientCredentials(own.caCertificate, own);
    const draining = Buffer.from(AgentMessage.encode({ body: { $case: "draining", value: {} } }).finish());
    const words = ["agent rejected", "must be hello"];
    await noticed(rejected("protocol"), words, () => sendOctets(plane.grpcPort, channel, [draining]));
    await noticed(rejected("protocol"), words, () => sendOctets(plane.grpcPort, channel, []));
    const agent = await attach(own, "turned");
    await noticed(dropped("unexpected"), ["unexpected message", own.agentId], async () =>
      agent.send({ body: { $case: "hello", value: helloOf("good", { agentId: own.agentId }) } }),
    );
    agent.cut();
    expect(await goodStatus()).toBe(200);
  });

  it("is refused with an invalid hello", async () => {
    const nonsense: Partial<Hello>[] = [
      { agentId: 'x\n{"level":60}' },
      { capabilities: Array.from({ length: 1_000 }, () => "icmp4") },
      { allowTargets: ["everything"] },
      { allowTargets: ["x".repeat(1_000)] },
      { location: { region: "../../etc", city: "", country: "", asn: 0, tags: [] } },
    ];
    for (const over of nonsense) {
      await noticed(rejected("identity"), ["agent rejected", "identity"], async () => {
        expect(firstMessage(await attach(own, "turned", over))).toMatchObject(REFUSED);
      });
    }
    await noticed(rejected("protocol"), ["agent rejected", "protocol 7.0"], async () => {
      expect(firstMessage(await attach(own, "turned", { protocol: { major: 7, minor: 0 } }))).toMatchObject({
        reason: "protocol",
      });
    });
    await noticed(rejected("capacity"), ["agent rejected", "capacity"], async () => {
      const greedy = { credits: 4_000_000_000, maxJobs: 4_000_000_000 };
      expect(firstMessage(await attach(own, "turned", greedy))).toMatchObject({ reason: "capacity" });
    });
  });

  it("is refused under another agent's name and in another region", async () => {
    const other = await enrol(plane, "turned");
    const standing = await attach(other, "turned");
    await noticed(rejected("identity"), ["agent rejected", other.agentId, "not to"], async () => {
      expect(firstMessage(await attach(own, "turned", { agentId: other.agentId }))).toMatchObject(REFUSED);
    });
    await noticed(rejected("identity"), ["agent rejected", own.agentId, "not good"], async () => {
      expect(firstMessage(await attach(own, "good"))).toMatchObject(REFUSED);
    });
    // The agent whose name was used still has its stream.
    const answer = plane.call(`/api/v4/check?url=${web.url}/?standing&locations=turned`, { key });
    standing.answer(await jobWith(standing, "standing"), OWN_RESULT);
    expect((await answer).text).toContain(OWN_WORDS);
    standing.cut();
  });

  it("cannot attach again after it was revoked", async () => {
    const stream = await attach(own, "turned");
    const revoked = await plane.operate("DELETE", `/api/admin/probes?id=${own.agentId}`);
    expect(revoked.status).toBe(200);
    await stream.ended;
    await noticed(rejected("revoked"), ["agent rejected", own.agentId, "revoked"], async () => {
      expect(firstMessage(await attach(own, "turned"))).toMatchObject({ reason: "revoked", retry: false });
    });
  });
});

describe("an unknown client", () => {
  it("is refused with a certificate of another authority, with an expired one and without one", async () => {
    const own = await enrol(plane, "stranger");
    const root = await issue({ ca: true, subject: "CN=Vantage agent authority" });
    const forged = await issue({ issuer: root, subject: `CN=${own.agentId}` });
    const foreign = { ...own, certificate: forged.pem, privateKey: forged.keyPem };
    // The same authority, 40 days ago.
    const clock = { ...systemClock, now: () => daysFromNow(-40) };
    const past = await startControlPlane({ databaseUrl: database.url, overrides: { clock } });
    const expired = await enrol(past, "stranger");
    await past.stop();
    for (const identity of [foreign, expired]) {
      await noticed(rejected("identity"), ["agent rejected", identity.agentId, "expired"], async () => {
        expect(firstMessage(await attach(identity, "stranger"))).toMatchObject(REFUSED);
      });
    }
    await noticed(rejected("identity"), ["agent rejected", own.agentId, "certificate is missing"], async () => {
      const hello = helloOf("stranger", { agentId: own.agentId });
      const bare = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate));
      expect(firstMessage(bare)).toMatchObject(REFUSED);
    });
    expect(firstMessage(await attach(own, "stranger"))).toBe("welcome");
  });

  it("cannot enrol with a used token, an invented one or one of another control plane", async () => {
    const token = await makeJoinToken(plane, { region: "stranger" });
    const authority = await fetchAuthority(plane.grpcPort, token);
    const enroll = async (presented: string) =>
      callEnroll(plane.grpcPort, authority, presented, (await makeRequest()).der);
    const request = await makeRequest();
    const own = identityOf(await callEnroll(plane.grpcPort, authority, token, request.der), request);
    const agent = await attach(own, "stranger");
    const fingerprint = token.slice(-64);
    const guessed = `vjt_${randomBytes(32).toString("base64url")}_${fingerprint}`;
    const elsewhere = token.replace(fingerprint, "0".repeat(fingerprint.length));
    for (const [presented, result] of [
      [token, "token_used"],
      [guessed, "token_unknown"],
      [elsewhere, "token_foreign"],
      ["let me in", "token_malformed"],
    ] as const) {
      await noticed(enrolments(result), ["agent certificate refused", result], async () => {
        await expect(enroll(presented)).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
      });
    }
    expect(plane.log()).not.toContain(token);
    agent.cut();
  });
});

it("a good agent works without interruption during all attacks", async () => {
  await expect.poll(() => answers.length).toBeGreaterThan(20);
  const detached = plane
    .log()
    .split("\n")
    .filter((line) => line.includes('"agent detached"') && line.includes('"good"'));
  walk.abort();
  await walking;
  console.log(`${answers.length} checks of the good agent`);
  expect(answers.filter((code) => code !== 200)).toEqual([]);
  expect(detached).toEqual([]);
  expect(good.log().match(/"attached"/g)).toHaveLength(1);
});
