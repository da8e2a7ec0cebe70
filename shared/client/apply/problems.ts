import { locateProblem, type ReadDocument } from "#shared/client/apply/read-document.ts";
import type { Step } from "#shared/client/apply/service.ts";
import type { FileProblem } from "#shared/json/yaml.ts";
import { field } from "#shared/client/call.ts";

/** A failed step. */
type Failed = Extract<Step<unknown>, { readonly ok: false }>;

/** Returns a refusal of the service as problems of the file. */
export function explainRefusal(file: string, read: ReadDocument, refused: Failed): Failed {
  const problems = field(refused.error, "problems");
  const text = (of: unknown, name: string) => {
    const value = field(of, name);
    return typeof value === "string" ? value : null;
  };
  const found = Array.isArray(problems)
    ? problems.map((one) => ({ row: text(one, "row"), field: text(one, "field"), message: text(one, "message") ?? "" }))
    : [];
  // The message of a single problem begins with its field.
  const single = text(refused.error, "field");
  const located =
    found.length > 0
      ? found.map((one) => locateProblem(read, one))
      : single === null
        ? []
        : [
            {
              ...locateProblem(read, { row: null, field: single, message: "" }),
              message: text(refused.error, "message") ?? "",
            },
          ];
  return { ...refused, line: hideSecrets(read, located.length === 0 ? refused.line : listProblems(file, located)) };
}

/** Formats problems, one a line: file, line and column as editors read them. */
export function listProblems(file: string, problems: readonly FileProblem[]): string {
  const lines = problems.map(({ place, message }) => {
    return `${file}:${place === null ? "" : `${place.line}:${place.column}:`} ${message}`;
  });
  return [`${problems.length === 1 ? "1 problem" : `${problems.length} problems`}; nothing is changed`, ...lines].join(
    "\n",
  );
}

/** Replaces the secrets of a document in a text. */
export function hideSecrets({ secrets }: ReadDocument, text: string): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "****"), text);
}
