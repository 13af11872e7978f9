/** The part of a file that a request asks for: from the byte `start` up to `end`, which is not part of it. */
type ByteRange = { start: number; end: number };

/**
 * The range of a `Range` header within so many bytes; undefined for none, for several, and for one outside of the file: a server may
 * ignore the header, and answers with the whole file then.
 */
export const byteRange = (header: string | undefined, bytes: number): ByteRange | undefined => {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const range =
    first === ""
      ? { start: Math.max(0, bytes - Number(last)), end: bytes }
      : { start: Number(first), end: last === "" ? bytes : Math.min(bytes, Number(last) + 1) };
  return range.start < range.end ? range : undefined;
};
