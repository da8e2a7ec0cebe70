import type { createProtocol, McpProtocol } from "#control-plane/surfaces/mcp/protocol.ts";

/**
 * Opens the protocol with its first message. Its library takes 16 MB and a twentieth of a second to load, and most
 * services are asked by no agent.
 */
export function openProtocol(...given: Parameters<typeof createProtocol>): McpProtocol {
  let opening: Promise<McpProtocol> | null = null;
  const open = async (): Promise<McpProtocol> => {
    const protocol = await import("#control-plane/surfaces/mcp/protocol.ts");
    return protocol.createProtocol(...given);
  };
  return {
    async answer(message) {
      opening ??= open();
      return await (await opening).answer(message);
    },
    async close() {
      if (opening !== null) await (await opening).close();
    },
  };
}
