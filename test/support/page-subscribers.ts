import { expect } from "vitest";
import type { MailServer } from "#shared/settings/mail-server.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import type { ReceivedMail } from "#test/support/received-mail.ts";

/** Address of the service in links. */
export const BASE = "https://status.example.com";

/** A page that shows one monitor, a heartbeat with an internal name, as Orders. */
export interface SubscribedPage {
  readonly slug: string;
  readonly pageId: number;
  readonly monitorId: number;
  /** Path of the monitor's pings. */
  readonly ping: string;
}

/** A control plane with a mail server, and what subscribers of its pages do. */
export interface SubscriberWorld {
  readonly plane: TestControlPlane;
  readonly clock: ReturnType<typeof createManualClock>;
  /** Of the account of all pages. */
  readonly key: string;
  readonly createPage: (over?: object) => Promise<SubscribedPage>;
  /** Posts the form of a page, each time from another client. */
  readonly subscribe: (slug: string, email: string, from?: string) => Promise<Answer>;
  readonly subscribeAndConfirm: (slug: string, email: string) => Promise<void>;
  readonly mailsTo: (email: string) => readonly ReceivedMail[];
  /** Waits for the mail with this index to an address. */
  readonly mailTo: (email: string, index: number) => Promise<ReceivedMail>;
  /** Waits until no mail is to be sent any more. */
  readonly untilSent: () => Promise<void>;
  stop(): Promise<void>;
}

/** Returns the path of the link of a kind in a mail. */
export function linkIn({ text }: ReceivedMail, kind: "confirm" | "unsubscribe"): string {
  const [, path = ""] = new RegExp(`${BASE}(/status/[a-z0-9-]+/${kind}/[0-9A-Za-z_-]+)`).exec(text) ?? [];
  expect(path).not.toBe("");
  return path;
}

/** Starts a control plane and its mail server. Call `stop` in afterAll. */
export async function startSubscriberWorld(): Promise<SubscriberWorld> {
  const clock = createManualClock(new Date());
  const sink = await startMailSink();
  const server: MailServer = {
    host: "127.0.0.1",
    port: sink.port,
    tls: "offered",
    isVerified: true,
    credentials: null,
  };
  const plane = await startControlPlane({
    overrides: { clock },
    config: {
      mail: { server, from: "Vantage <alerts@example.com>" },
      baseUrl: BASE,
      trustedProxies: ["127.0.0.0/8"],
    },
  });
  const key = await plane.createKey("captain");
  let clients = 1;
  let pages = 0;
  const world: SubscriberWorld = {
    plane,
    clock,
    key,
    async createPage(over = {}) {
      pages += 1;
      const slug = `shop-${pages}`;
      const monitor = (
        await plane.call("/api/v4/monitors", {
          key,
          body: { check_type: "heartbeat", name: "internal-job-7", heartbeat: { period_seconds: 3_600 } },
        })
      ).body.data as { id: number; heartbeat_url: string };
      const page = await plane.call("/api/v4/status", {
        key,
        body: {
          title: "Example Shop",
          slug,
          auto_incidents_after_minutes: 0,
          monitors: [{ id: monitor.id, name: "Orders" }],
          ...over,
        },
      });
      expect(page.status, page.text).toBe(201);
      const { id } = page.body.data as { id: number };
      return { slug, pageId: id, monitorId: monitor.id, ping: new URL(monitor.heartbeat_url).pathname };
    },
    subscribe(slug, email, from = `198.51.100.${(clients += 1)}`) {
      return plane.call(`/status/${slug}/subscribe`, {
        method: "POST",
        body: `email=${encodeURIComponent(email)}`,
        headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": from },
      });
    },
    async subscribeAndConfirm(slug, email) {
      // Counted before: the mail can be there before the answer.
      const before = world.mailsTo(email).length;
      expect((await world.subscribe(slug, email)).status).toBe(200);
      const path = linkIn(await world.mailTo(email, before), "confirm");
      expect((await plane.call(path, { method: "POST" })).status).toBe(200);
    },
    mailsTo: (email) => sink.mails.filter(({ to }) => to === email),
    async mailTo(email, index) {
      await expect.poll(() => world.mailsTo(email).length).toBeGreaterThan(index);
      const mail = world.mailsTo(email)[index];
      if (mail === undefined) throw new Error(`no mail ${index} to ${email}`);
      return mail;
    },
    async untilSent() {
      const queues = async () => (await plane.operate("GET", "/api/admin/queue")).text;
      await expect.poll(queues).not.toContain('"deliveries:');
    },
    async stop() {
      await plane.stop();
      await sink.close();
    },
  };
  return world;
}
