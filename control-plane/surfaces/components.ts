import type { FastifyInstance } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import { ERROR_ANSWER, META } from "#control-plane/http/operation.ts";

/** Name of a tool's result among the document's components: email-check is EmailCheckResult. */
function resultName({ name }: Contract): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join("")}Result`;
}

/** A reference to a tool's result, which every version and method answers with. */
export function resultRef(contract: Contract): string {
  return `${resultName(contract)}#`;
}

/** Registers what many operations share, so that the document says it once; call before any route. */
export function addComponents(server: FastifyInstance, contracts: readonly Contract[]): void {
  server.addSchema(META);
  server.addSchema(ERROR_ANSWER);
  for (const contract of contracts) {
    server.addSchema({ $id: resultName(contract), title: contract.title, ...contract.result });
  }
}
