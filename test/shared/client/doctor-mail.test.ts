import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeAll, expect, it } from "vitest";
import { checkMail } from "#shared/client/doctor/mail.ts";
import type { Finding } from "#shared/client/doctor/finding.ts";
import { readSettings } from "#shared/settings/settings-parse.ts";
import { startMailSink, type MailSink, type MailSinkOptions } from "#test/servers/mail-sink.ts";
import { createPki, type Issued } from "#test/servers/pki.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

const USER = { name: "vantage", password: "correct horse" };
const PASSWORD = "correct%20horse";
const closing: (() => unknown)[] = [];
let chain: readonly Issued[];

beforeAll(async () => {
  const pki = await createPki();
  chain = [await pki.issue({ dns: ["localhost"], ip: ["127.0.0.1"] }), pki.intermediate];
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function sinkWith(options: MailSinkOptions = {}): Promise<MailSink> {
  const sink = await startMailSink({ chain, ...options });
  closing.push(() => sink.close());
  return sink;
}

/** Starts a server that answers each command with the next of these lines, and keeps what it was sent. */
async function script(...lines: readonly string[]): Promise<{ readonly port: number; readonly sent: string[] }> {
  const sent: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const [greeting = "", ...answers] = lines;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      sent.push(chunk.toString().trim());
      socket.write(`${answers.shift() ?? "250 ok"}\r\n`);
    });
    if (greeting !== "") socket.write(`${greeting}\r\n`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sent };
}

/** Checks the mail server of a setting. No finding has the password. */
async function check(url: string, deadlineMs?: number): Promise<Finding> {
  const read = readSettings({ VANTAGE_SMTP_URL: url, VANTAGE_MAIL_FROM: "a@example.com" }, "control-plane");
  if (!read.ok) throw new Error(read.line);
  const finding = await checkMail(read, deadlineMs);
  expect(JSON.stringify(finding)).not.toMatch(/correct horse|wrong horse/);
  expect(finding.todo !== undefined).toBe(finding.level !== "ok");
  return finding;
}

it("without a mail server says that nobody is mailed", async () => {
  const read = readSettings({}, "control-plane");
  if (!read.ok) throw new Error(read.line);
  expect(await checkMail(read)).toMatchObject({ level: "ok", message: expect.stringContaining("nobody is mailed") });
});

it("without a user says EHLO and QUIT, and sends nothing", async () => {
  const { port, sent } = await script("220 mx", "250 mx", "221 bye");
  expect(await check(`smtp://127.0.0.1:${port}`)).toEqual({
    level: "ok",
    subject: "mail",
    message: `127.0.0.1:${port} answers EHLO`,
  });
  await until(() => sent.length === 2, "EHLO and QUIT");
  expect(sent).toEqual(["EHLO [127.0.0.1]", "QUIT"]);
});

it("with a user signs in", async () => {
  const sink = await sinkWith({ user: USER, tls: "starttls" });
  const url = `smtp://vantage:${PASSWORD}@127.0.0.1:${sink.port}?verify=no`;
  expect(await check(url)).toMatchObject({ level: "ok", message: expect.stringContaining("accepts the user vantage") });
  expect(sink.signedIn).toEqual([{ user: "vantage", isSecure: true }]);
  expect(sink.mails).toEqual([]);
});

it("with a user that is refused has the server's words, also if they repeat the password", async () => {
  const sink = await sinkWith({ user: USER });
  const refused = await check(`smtp://vantage:wrong%20horse@127.0.0.1:${sink.port}?starttls=never`);
  expect(refused).toMatchObject({
    level: "fail",
    message: `127.0.0.1:${sink.port} refused the user vantage: 535 test 535`,
  });
  const said = "535 5.7.8 no wrong horse here";
  const { port } = await script("220 mx", "250-mx\r\n250 AUTH PLAIN", said);
  const repeated = await check(`smtp://vantage:wrong%20horse@127.0.0.1:${port}?starttls=never`);
  expect(repeated.message).toBe(`127.0.0.1:${port} refused the user vantage: 535 5.7.8 no **** here`);
});

it("with a user whom the server offers no way to sign in says so", async () => {
  const { port, sent } = await script("220 mx", "250 mx");
  const finding = await check(`smtp://vantage:${PASSWORD}@127.0.0.1:${port}?starttls=never`);
  expect(finding).toMatchObject({ level: "fail", message: expect.stringContaining("offers no way to sign in") });
  expect(sent).toEqual(["EHLO [127.0.0.1]"]);
});

it("that does not listen cannot be connected to", async () => {
  const port = await freePort();
  const finding = await check(`smtp://127.0.0.1:${port}`);
  expect(finding).toMatchObject({
    level: "fail",
    message: `cannot connect to 127.0.0.1:${port} (connect ECONNREFUSED 127.0.0.1:${port})`,
  });
});

it("with a certificate that is not trusted, or without STARTTLS, fails at TLS", async () => {
  const untrusted = await sinkWith({ tls: "implicit" });
  expect(await check(`smtps://127.0.0.1:${untrusted.port}`)).toMatchObject({
    level: "fail",
    message: expect.stringContaining(`TLS with 127.0.0.1:${untrusted.port} failed (`),
  });
  const plain = await sinkWith({ user: USER });
  const finding = await check(`smtp://vantage:${PASSWORD}@127.0.0.1:${plain.port}`);
  expect(finding.message).toContain(`TLS with 127.0.0.1:${plain.port} failed (`);
  expect(plain.signedIn).toEqual([]);
});

it("that refuses the session, or says nothing until the deadline, is no server to use", async () => {
  const { port } = await script("554 no service for you\u0007");
  expect(await check(`smtp://127.0.0.1:${port}`)).toMatchObject({
    level: "fail",
    message: `127.0.0.1:${port} did not accept the session (554 no service for you)`,
  });
  const silent = await script("");
  const finding = await check(`smtp://127.0.0.1:${silent.port}`, 200);
  expect(finding.message).toBe(`127.0.0.1:${silent.port} did not accept the session (the time is up)`);
});
