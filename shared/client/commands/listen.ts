import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { readSecretFile } from "#shared/client/input-file.ts";
import { readOptions, type TypedOptions } from "#shared/client/listen/options.ts";
import { runListen } from "#shared/client/listen/run.ts";
import { readTlsIdentity } from "#shared/client/listen/tls-identity.ts";

/** Exit status if it cannot listen: a wrong option, an unreadable file, a port in use. */
const NOT_STARTED = 2;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Adds `deploy/vantage listen`, which needs no service: a receiver that verifies deliveries and prints them. */
export function addListen(program: Command, context: CommandContext): void {
  program
    .command("listen")
    .description(
      "receive the deliveries of a webhook, verify their signatures and print them (status 2: cannot listen)",
    )
    .requiredOption("--secret-file <file>", "file whose first line is the secret of the webhook")
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "TCP port to listen on (0: any free port)", "8787")
    .option("--tls-cert <file>", "certificate with its chain, PEM: listens with HTTPS")
    .option("--tls-key <file>", "key of the certificate, PEM")
    .option("--status <code>", "status of the answer to a verified delivery", "204")
    .option("--count <n>", "stop after this many deliveries, verified or not (default: at Ctrl-C)")
    .action(async (typed: TypedOptions) => context.exit((await listen(context, typed)) ? 0 : NOT_STARTED));
}

/** Listens until a signal or the last delivery; false after a line that says why it could not. */
async function listen(context: CommandContext, typed: TypedOptions): Promise<boolean> {
  const { secretFile, host, tlsCert, tlsKey } = typed;
  const options = readOptions(typed);
  if (!options.ok) {
    context.complain(`vantage: ${options.message}`);
    return false;
  }
  const secret = readSecretFile(context, secretFile);
  if (secret === null) return false;
  const hasTls = tlsCert !== undefined && tlsKey !== undefined;
  const tls = hasTls ? readTlsIdentity(context, tlsCert, tlsKey) : null;
  if (hasTls && tls === null) return false;

  const { port, status, count } = options;
  const { now, say } = context;
  const abort = new AbortController();
  const stop = () => abort.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  const ran = await runListen({ host, port, tls, secret, status, count, now, say, stop: abort.signal });
  for (const signal of SIGNALS) process.off(signal, stop);
  if (!ran.ok) context.complain(`vantage: ${ran.message}`);
  return ran.ok;
}
