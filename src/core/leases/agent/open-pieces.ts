import { openBytes } from "../../protocol/sealed-bytes.ts";
import { AgentStreamBroken } from "./agent-stream.ts";

type SealedPieces = {
  key: Parameters<typeof openBytes>[0];
  /** What a piece at this place is sealed for. */
  contextOf(offset: number): string;
  /** Where the first piece stands. */
  from: number;
  /** What the pieces are of, for the message. */
  what: string;
};

/**
 * Opens the sealed pieces of a stream, in base64, one after the other. Throws `AgentStreamBroken` for one that the agent
 * has not sealed for this place.
 */
export const createPieceOpener = ({ key, contextOf, from, what }: SealedPieces): ((piece: string) => Buffer) => {
  let offset = from;
  return (piece) => {
    try {
      const bytes = openBytes(key, Buffer.from(piece, "base64"), contextOf(offset));
      offset += bytes.length;
      return bytes;
    } catch (cause) {
      throw new AgentStreamBroken(`a piece of ${what} is not from the browser's agent`, { cause });
    }
  };
};
