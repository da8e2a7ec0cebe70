import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { readSecretFile, readInputFile } from "#shared/client/input-file.ts";
import { runListen } from "#shared/client/listen.ts";
import { createSecureContext } from "node:tls";
import type { TlsIdentity } from "#shared/client/listen-server.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** Exit status if it cannot listen: a wrong option, an unreadable file, a port in use. */
const NOT_STARTED = 2;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Options of the command as they were typed. */
interface TypedOptions {
  readonly secretFile: string;
  readonly host: string;
  readonly port: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly status: string;
  readonly count?: string;
}

/** The options that are numbers. */
interface ListenNumbers {
  /** 0: any free port. */
  readonly port: number;
  readonly status: number;
  /** Infinity: until a signal. */
  readonly count: number;
}

/** The numbers, or the sentence that says which option is wrong. */
type ReadOptions = ({ readonly ok: true } & ListenNumbers) | { readonly ok: false; readonly message: string };

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

/** Reads a certificate and its key; null after a line that says why they cannot be used. */
function readTlsIdentity(context: CommandContext, certFile: string, keyFile: string): TlsIdentity | null {
  const cert = readInputFile(context, certFile);
  const key = readInputFile(context, keyFile);
  if (cert === null || key === null) return null;
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    context.complain(`vantage: ${certFile} and ${keyFile} are no certificate and its key (${describeError(error)})`);
    return null;
  }
}

/** Reads the options that are numbers, and checks that those of TLS are both there or both absent. */
function readOptions({ host, port, status, count, tlsCert, tlsKey }: TypedOptions): ReadOptions {
  const numbers = {
    port: readInteger(port, 0, 65_535),
    status: readInteger(status, 200, 599),
    count: count === undefined ? Infinity : readInteger(count, 1, 1_000_000_000),
  };
  // Node takes an empty host for every address of the machine.
  if (host === "") return refuse("--host must be an address or a name of this machine");
  if (numbers.port === null) return refuse("--port must be a number from 0 to 65535");
  if (numbers.status === null) return refuse("--status must be a number from 200 to 599");
  if (numbers.count === null) return refuse("--count must be a number from 1 to 1000000000");
  if (tlsCert !== undefined && tlsKey === undefined) return refuse("--tls-cert needs --tls-key");
  if (tlsKey !== undefined && tlsCert === undefined) return refuse("--tls-key needs --tls-cert");
  return { ok: true, port: numbers.port, status: numbers.status, count: numbers.count };
}

function readInteger(text: string, from: number, to: number): number | null {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : null;
  return value !== null && value >= from && value <= to ? value : null;
}

function refuse(message: string): ReadOptions {
  return { ok: false, message };
}
