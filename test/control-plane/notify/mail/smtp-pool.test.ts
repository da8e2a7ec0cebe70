import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { MailServer } from "#shared/settings/mail-server.ts";
import { createSmtpPool, type SmtpPool } from "#control-plane/notify/mail/smtp-pool.ts";
import type { RawMail } from "#shared/process/smtp-result.ts";
import { startMailSink, type MailSink, type MailSinkOptions } from "#test/servers/mail-sink.ts";
import { createPki } from "#test/servers/pki.ts";
import { endsBy } from "#test/support/deadlines.ts";

const USER = { name: "vantage", password: "p\u00e4ss:@/" };
const CREDENTIALS = { user: USER.name, password: USER.password };
const closing: (() => unknown)[] = [];

const pki = await createPki();
const chain = [await pki.issue({ dns: ["localhost"], ip: ["127.0.0.1"] }), pki.intermediate];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const MAIL: RawMail = {
  from: "a@example.com",
  to: "b@example.com",
  raw: Buffer.from("Subject: x\r\n\r\nHello\r\n.\r\nend\r\n"),
};
const withinMs = (ms: number): AbortSignal => AbortSignal.timeout(ms);

async function open(options: MailSinkOptions = {}, settings: Partial<MailServer> = {}): Promise<[MailSink, SmtpPool]> {
  const sink = await startMailSink({ chain, ...options });
  const pool = poolFor(sink.port, settings);
  closing.push(() => sink.close());
  return [sink, pool];
}

function poolFor(port: number, settings: Partial<MailServer> = {}): SmtpPool {
  const base = { host: "127.0.0.1", tls: "offered", isVerified: true, credentials: null } as const;
  const pool = createSmtpPool({ ...base, port, ...settings }, "test.example");
  closing.push(() => pool.close());
  return pool;
}

/** Starts a server that writes these lines and reads nothing. */
async function startScript(greeting: string, onSocket: (socket: Socket) => void = () => {}): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write(greeting);
    onSocket(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe("mails", () => {
  it("arrive as they are", async () => {
    const [sink, pool] = await open();
    expect(await pool.send(MAIL, withinMs(60_000))).toEqual({ ok: true, replyCode: 250 });
    expect(sink.mails).toMatchObject([{ from: MAIL.from, to: MAIL.to }]);
    expect(sink.mails[0]?.raw).toBe(MAIL.raw.toString());
  });

  it("share a session one after the other, and use several at the same time", async () => {
    const [sink, pool] = await open();
    for (let n = 0; n < 5; n += 1) expect((await pool.send(MAIL, withinMs(60_000))).ok).toBe(true);
    expect(sink.connections().total).toBe(1);
    const results = await Promise.all(Array.from({ length: 4 }, () => pool.send(MAIL, withinMs(60_000))));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(sink.connections().total).toBe(4);
    expect(sink.mails).toHaveLength(9);
  });

  it("use a new session after a hundred mails", async () => {
    const [sink, pool] = await open();
    for (let n = 0; n < 101; n += 1) expect((await pool.send(MAIL, withinMs(60_000))).ok).toBe(true);
    expect(sink.connections().total).toBe(2);
  });

  it("use a new session if the server has closed the old one", async () => {
    const [first, pool] = await open();
    expect((await pool.send(MAIL, withinMs(60_000))).ok).toBe(true);
    await first.close();
    expect(await pool.send(MAIL, withinMs(60_000))).toMatchObject({ ok: false, fault: { stage: "connect" } });
  });

  it("to a refused recipient leave the session usable", async () => {
    const [sink, pool] = await open({ onRecipient: (address) => (address.startsWith("no") ? 550 : "accept") });
    expect(await pool.send({ ...MAIL, to: "no@example.com" }, withinMs(60_000))).toMatchObject({
      ok: false,
      fault: { stage: "recipient", replyCode: 550 },
    });
    expect((await pool.send(MAIL, withinMs(60_000))).ok).toBe(true);
    expect(sink.connections().total).toBe(1);
  });
});

describe("TLS", () => {
  it("is used if the server offers it", async () => {
    const [sink, pool] = await open({ tls: "starttls", user: USER }, { isVerified: false, credentials: CREDENTIALS });
    expect((await pool.send(MAIL, withinMs(60_000))).ok).toBe(true);
    expect(sink.signedIn).toEqual([{ user: USER.name, isSecure: true }]);
  });

  it("can start with the connection", async () => {
    const [sink, pool] = await open(
      { tls: "implicit", user: USER },
      { tls: "implicit", isVerified: false, credentials: CREDENTIALS },
    );
    expect((await pool.send(MAIL, withinMs(60_000))).ok).toBe(true);
    expect(sink.signedIn).toEqual([{ user: USER.name, isSecure: true }]);
  });

  it.each(["starttls", "implicit"] as const)("with an untrusted certificate sends nothing (%s)", async (tls) => {
    const [sink, pool] = await open(
      { tls, user: USER },
      {
        tls: tls === "implicit" ? "implicit" : "offered",
        credentials: CREDENTIALS,
      },
    );
    expect(await pool.send(MAIL, withinMs(60_000))).toMatchObject({ ok: false, fault: { stage: "tls" } });
    expect(sink.signedIn).toEqual([]);
  });

  it("that is required is not given up: no password goes out in clear", async () => {
    const [sink, pool] = await open({ user: USER }, { tls: "required", credentials: CREDENTIALS });
    expect(await pool.send(MAIL, withinMs(60_000))).toMatchObject({ ok: false, fault: { stage: "tls" } });
    expect(sink.signedIn).toEqual([]);
  });
});

describe("authentication", () => {
  it("fails with a wrong password, and nothing is sent", async () => {
    const [sink, pool] = await open(
      { user: USER },
      { tls: "never", credentials: { ...CREDENTIALS, password: "wrong" } },
    );
    expect(await pool.send(MAIL, withinMs(60_000))).toMatchObject({
      ok: false,
      fault: { stage: "auth", replyCode: 535 },
    });
    expect(sink.mails).toEqual([]);
  });

  it("that the server does not offer is a fault of its own", async () => {
    const port = await startScript("220 x\r\n", (socket) => socket.on("data", () => socket.write("250 x\r\n")));
    expect(await poolFor(port, { credentials: CREDENTIALS }).send(MAIL, withinMs(60_000))).toMatchObject({
      ok: false,
      fault: { stage: "auth", replyCode: null },
    });
  });
});

describe("a server that misbehaves", () => {
  it.each([
    ["refuses the connection", "554 no service\r\n", { stage: "greeting", replyCode: 554 }],
    ["is busy", "421 try later\r\n", { stage: "greeting", replyCode: 421 }],
    ["is no mail server", "HTTP/1.1 400 Bad Request\r\n\r\n", { stage: "greeting", replyCode: null }],
  ])("and %s is reported", async (_, greeting, fault) => {
    const port = await startScript(greeting);
    expect(await poolFor(port).send(MAIL, withinMs(60_000))).toMatchObject({ ok: false, fault });
  });

  it("and says nothing costs the time limit and no more", async () => {
    const port = await startScript("");
    const send = () => poolFor(port).send(MAIL, withinMs(500));
    expect(await endsBy(500, send)).toMatchObject({ ok: false });
  });

  it("and hangs after the message costs the time limit and no more", async () => {
    const [, pool] = await open({ onMessage: () => new Promise(() => {}) });
    expect(await pool.send(MAIL, withinMs(500))).toMatchObject({
      ok: false,
      fault: { stage: "lost", replyCode: null },
    });
  });

  it("and closes the connection after the message is a lost answer", async () => {
    const [sink, pool] = await open({ onMessage: () => "drop" });
    expect(await pool.send(MAIL, withinMs(60_000))).toMatchObject({ ok: false, fault: { stage: "lost" } });
    expect(sink.mails).toHaveLength(1);
  });

  it("and sends endless lines costs the time limit and no more", async () => {
    const port = await startScript("220-", (socket) => {
      const flood = setInterval(() => socket.write("220-x\r\n".repeat(1_000)), 1);
      socket.on("close", () => clearInterval(flood));
    });
    expect(await poolFor(port).send(MAIL, withinMs(1_000))).toMatchObject({ ok: false });
  });

  it.each([
    [451, "message"],
    [552, "message"],
  ])("and answers %i to a message is reported", async (code, stage) => {
    const [, pool] = await open({ onMessage: () => code });
    expect(await pool.send(MAIL, withinMs(60_000))).toMatchObject({ ok: false, fault: { stage, replyCode: code } });
  });
});
