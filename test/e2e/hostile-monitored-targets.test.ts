import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startMailSink, type MailSink } from "#test/servers/mail-sink.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { openMailWorld, type MailWorld } from "#test/support/mail-world.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { createAccount, type TestAccount } from "#test/support/audit.ts";

/** Control characters but line feeds, separators of lines, and invisible characters, which turn text around. */
const UNSAFE = /[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u;
const EVIL = "\u202eok\u2066\u0007\u001b[31m\u2028";
const INJECTION = "x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script>";
const SETTLES = { interval: 250 };

const page = (body: string, head = "HTTP/1.1 200 OK\r\n") =>
  `${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;

/** An answer of the target by path, with the monitor's settings. null: the target sends without end. */
const ANSWERS: readonly (readonly [path: string, answer: string | null, settings: object])[] = [
  ["status-text", page("", `HTTP/1.1 503 ${EVIL} gateway\r\n`), {}],
  ["bare-line-feed", page("", "HTTP/1.1 503 Bad\nX-Service-Event: forged\r\n"), {}],
  ["header-value", page("", `HTTP/1.1 503 Bad\r\nServer: ${EVIL}\r\nX-A: ${"a".repeat(4_000)}\r\n`), {}],
  ["location", `HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/${EVIL}\r\nContent-Length: 0\r\n\r\n`, {}],
  ["no-status-line", `${EVIL}${INJECTION}\r\n\r\n`, {}],
  ["title", page(`<title>${EVIL}${INJECTION}</title>`), { check_type: "keyword", keyword: "Welcome" }],
  [
    "json",
    page(JSON.stringify({ status: `${EVIL}${INJECTION}` })),
    { json: { path: "$.status", op: "equals", value: "ok" } },
  ],
  ["json-that-is-none", page(`{"status": "${EVIL}`), { json: { path: "$.status", op: "equals", value: "ok" } }],
  [
    "encoding",
    page("\u001f\u008bnot gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"),
    { check_type: "keyword", keyword: "Welcome" },
  ],
  ["endless-head", null, {}],
];

let target: Server;
const sockets = new Set<Socket>();
let sink: MailSink;
let plane: TestControlPlane;
let agent: AgentProcess;
let world: MailWorld;
let account: TestAccount;
let url: string;

/** Sends header fields until the other side closes. */
function sendForever(socket: Socket): void {
  const line = Buffer.from(`X-Filler: ${"f".repeat(1_000)}\r\n`);
  socket.write("HTTP/1.1 200 OK\r\n");
  const send = () => {
    while (!socket.destroyed && socket.write(line));
  };
  socket.on("drain", send);
  send();
}

beforeAll(async () => {
  target = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", (chunk: Buffer) => {
      const path = /^[A-Z]+ \/([a-z-]*)/.exec(chunk.toString("latin1"))?.[1];
      const answer = ANSWERS.find(([given]) => given === path)?.[1];
      if (answer === null) sendForever(socket);
      else socket.end(answer ?? page("Welcome"));
    });
  }).listen(0, "127.0.0.1");
  await once(target, "listening");
  url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  sink = await startMailSink();
  const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
  plane = await startControlPlane({
    config: { mail: { server, from: "Vantage <alerts@example.com>" }, baseUrl: "https://status.example.com" },
  });
  world = await openMailWorld(plane.databaseUrl);
  agent = await startAgent(plane, "eu-west");
  account = await createAccount(plane);
});

afterAll(async () => {
  await agent?.stop();
  await world?.close();
  await plane?.stop();
  await sink?.close();
  for (const socket of sockets) socket.destroy();
  target?.close();
});

interface Incident {
  readonly id: number;
  readonly title: string;
  readonly cause: { readonly code: string; readonly message: string };
  readonly timeline: readonly { readonly text: string }[];
}

describe("a target that answers with hostile bytes", () => {
  it("makes its monitor down, with a cause in one plain line and a mail that is unharmed", async () => {
    const recipient = (path: string) => `${path}@example.com`;
    await confirmRecipients(
      world.sql,
      account.id,
      ANSWERS.map(([path]) => recipient(path)),
    );
    const ids = new Map<string, number>();
    for (const [path, , settings] of ANSWERS) {
      const body = {
        url: `${url}${path}`,
        name: `Shop ${path}`,
        interval_minutes: 1,
        retries: 0,
        timeout_seconds: 5,
        locations: ["eu-west"],
        notify_email: true,
        notify_emails: [recipient(path)],
        ...settings,
      };
      ids.set(path, (await createMonitor(plane, account.key, body)).id);
    }
    for (const [path, id] of ids) {
      const read = async () =>
        (await plane.call(`/api/v4/monitors?id=${id}`, { key: account.key })).body.data as { status: string };
      await expect.poll(async () => (await read()).status, { ...SETTLES, message: path }).toBe("down");
      const list = await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key: account.key });
      const [incident, ...others] = list.body.data as readonly Incident[];
      expect(others, path).toEqual([]);
      const texts = [incident?.title, incident?.cause.message, ...(incident?.timeline ?? []).map(({ text }) => text)];
      for (const text of texts) expect(text, path).not.toMatch(UNSAFE);
      expect(incident?.cause.message, path).not.toContain("\n");
      expect(incident?.cause.message.length, path).toBeLessThan(300);
      expect(list.text, path).not.toMatch(UNSAFE);

      const received = () => sink.mails.filter(({ to }) => to === recipient(path));
      await expect.poll(() => received().length, { ...SETTLES, message: path }).toBe(1);
      const [mail] = received();
      const names = mail?.fields.map(([name]) => name) ?? [];
      expect(new Set(names).size, path).toBe(names.length);
      expect(names, path).not.toContain("bcc");
      expect(mail?.header("x-service-event"), path).toBe("monitor.down");
      expect(mail?.header("x-service-incident"), path).toBe(String(incident?.id));
      expect(mail?.text.replaceAll("\n", ""), path).not.toMatch(UNSAFE);
      expect(mail?.html, path).not.toContain("<script");
      expect(mail?.raw, path).not.toMatch(/(?<!\r)\n|\r(?!\n)/);
    }
    expect(sink.mails.every(({ to }) => !to.startsWith("victim"))).toBe(true);
    expect(agent.log()).not.toMatch(UNSAFE);
  });

  it("leaves agent and service able to find another target up", async () => {
    const body = { url: `${url}welcome`, interval_minutes: 1, check_type: "keyword", keyword: "Welcome" };
    const { id } = await createMonitor(plane, account.key, body);
    const read = async () =>
      (await plane.call(`/api/v4/monitors?id=${id}`, { key: account.key })).body.data as { status: string };
    await expect.poll(async () => (await read()).status, SETTLES).toBe("up");
  });
});
