import type { Command } from "commander";
import { readExport, type SignedExport } from "#shared/audit/read-export.ts";
import { kidOf } from "#shared/audit/signature.ts";
import { verifyExport } from "#shared/audit/verify.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { readInputFile, readSecretFile } from "#shared/client/input-file.ts";
import { cell } from "#shared/client/table.ts";

/** Exit status of an export that is not what was signed. */
const NOT_VERIFIED = 1;
/** Exit status if nothing could be verified, because a file could not be read. */
const NO_FILE = 2;

/** Adds `deploy/vantage verify-audit`, which needs no service: it verifies a file with a secret from another file. */
export function addVerifyAudit(program: Command, context: CommandContext): void {
  program
    .command("verify-audit")
    .argument("<file>", "response of GET /api/v4/audit-export, or its data")
    .requiredOption("--secret-file <file>", "file whose first line is the secret of the account")
    .description("verify the signature of an audit export, offline (status 0: valid, 1: not valid, 2: unreadable file)")
    .action((file: string, { secretFile }: { readonly secretFile: string }) => {
      const bytes = readInputFile(context, file);
      const secret = readSecretFile(context, secretFile);
      if (bytes === null || secret === null) return context.exit(NO_FILE);
      const read = readExport(bytes);
      const problem = read.ok ? problemOf(read.signed, secret, secretFile) : read.message;
      if (read.ok && problem === null) return context.say(describe(read.signed));
      context.complain(`vantage: ${file} is NOT verified: ${problem}`);
      context.exit(NOT_VERIFIED);
    });
}

/** Returns what is wrong with a signature, in one sentence; null if it is valid. */
function problemOf(signed: SignedExport, secret: string, secretFile: string): string | null {
  const { kid } = signed.sig;
  switch (verifyExport(signed, secret)) {
    case "valid":
      return null;
    case "other_secret":
      return `it was signed with the secret ${kid}, and the secret in ${secretFile} is ${kidOf(secret)}`;
    default:
      return `it is not what was signed with the secret ${kid}: its data, its time (sig.ts) or its signature was changed`;
  }
}

function describe({ payload, sig }: SignedExport): string {
  const { type, account_id: accountId, generated_at: generatedAt, subject } = payload;
  const signedAt = new Date(sig.ts * 1_000);
  const signed = Number.isNaN(signedAt.getTime()) ? `at ${sig.ts}` : `at ${signedAt.toISOString()}`;
  return [
    `Verified: this is what was signed ${signed} with the secret ${sig.kid}.`,
    `type: ${cell(type)}`,
    `account_id: ${cell(accountId)}`,
    `generated_at: ${cell(generatedAt)}`,
    `subject: ${cell(subject)}`,
  ].join("\n");
}
