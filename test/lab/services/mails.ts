import { addressOf } from "#test/lab/addresses.ts";
import type { Network } from "#test/lab/driver.ts";
import { startDaemon } from "#test/lab/services/daemon.ts";
import { LAB } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** A mail as the lab's mail server got it. */
export interface BoxedMail {
  readonly to: string;
  /** Value of X-Service-Event. */
  readonly kind: string;
  readonly subject: string;
  readonly messageId: string;
}

/** A mail server of the lab that accepts everything. */
export interface MailBox {
  /** Returns every mail so far, in the order of arrival. */
  mails(): readonly BoxedMail[];
}

const PLACE = { host: addressOf(LAB, "svc"), port: 2_525 };

/** Settings of a control plane that sends its mail there. */
export const MAIL_SETTINGS = {
  VANTAGE_SMTP_URL: `smtp://${PLACE.host}:${PLACE.port}`,
  VANTAGE_MAIL_FROM: "watch@hub.lab.test",
  // One for all replicas: it is part of the Message-ID.
  VANTAGE_BASE_URL: "http://hub.lab.test:8080",
} as const;

/** Starts the mail server in the node `svc`. */
export async function startMailBox(network: Network): Promise<MailBox> {
  const daemon = await startDaemon(network, {
    node: "svc",
    command: [process.execPath, `${ROOT}/test/lab/services/mail-box.ts`],
    input: `${JSON.stringify(PLACE)}\n`,
    ready: "ready\n",
  });
  return {
    mails: () => Array.from(daemon.log().matchAll(/^mail (.*)$/gm), ([, text = ""]) => JSON.parse(text) as BoxedMail),
  };
}
