import { whenAborted } from "#shared/client/up/aborted.ts";
import { explainListenError } from "#shared/client/up/ports.ts";
import { answerDeliveries } from "#shared/client/listen/answer.ts";
import { openReceiver, type TlsIdentity } from "#shared/client/listen/server.ts";
import { formatAddress, listenerUrl } from "#shared/settings/address.ts";

/** Options of a run. */
interface RunOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: TlsIdentity | null;
  readonly secret: string;
  /** Status of the answer to a verified delivery. */
  readonly status: number;
  /** The run ends after this many requests with POST. */
  readonly count: number;
  readonly now: () => Date;
  readonly say: (text: string) => void;
  readonly stop: AbortSignal;
}

/** Result of a run: it has ended, or the sentence that says why it could not start. */
type Ran = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** Receives, prints and answers deliveries until `stop` or until `count` of them are answered. */
export async function runListen(options: RunOptions): Promise<Ran> {
  const { host, port, tls, secret, status, count, now, say, stop } = options;
  const done = new AbortController();
  let answered = 0;
  const onAnswered = () => {
    answered += 1;
    if (answered >= count) done.abort();
  };
  const listener = answerDeliveries({ secret, status, now, say, onAnswered });
  const opening = openReceiver({ host, port, tls }, (request, response) => void listener(request, response));
  const opened = await opening.then(
    (receiver) => ({ receiver }),
    (error: unknown) => ({ error }),
  );
  if ("error" in opened) {
    return { ok: false, message: `${formatAddress({ host, port })} ${explainListenError(opened.error)}` };
  }
  const { receiver } = opened;
  say(`Listening on ${listenerUrl({ host, port: receiver.port }, tls !== null)} for deliveries. Ctrl-C stops it.`);
  say(
    tls === null
      ? "Webhooks need HTTPS: put a tunnel with HTTPS in front, or give --tls-cert and --tls-key."
      : "Webhooks need HTTPS with a certificate that the control plane trusts.",
  );
  await whenAborted(AbortSignal.any([stop, done.signal]));
  await receiver.close();
  return { ok: true };
}
