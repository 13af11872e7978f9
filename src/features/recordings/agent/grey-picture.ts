/**
 * A grey JPEG, which stands for a page that may not be shown. The encoder fits it into the video and fills the rest with the same grey.
 *
 * 16 x 16 pixels, YCbCr with halved colours as Chromium's pictures: one block of each kind with no coefficient but zeros, which is the
 * middle grey. Each Huffman table has one code, of one bit.
 */
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replace(/\s/g, ""), "hex");

const quantization = `ff db 00 43 00 ${"01".repeat(64)}`;
const frame = "ff c0 00 11 08 00 10 00 10 03 01 22 00 02 11 00 03 11 00";
/** One symbol, 0: no difference for the first coefficient, the end of the block for the others. */
const huffman = (table: "00" | "10"): string => `ff c4 00 14 ${table} 01 ${"00".repeat(15)} 00`;
const scan = "ff da 00 0c 03 01 00 02 00 03 00 00 3f 00";
/** Two bits for each of the six blocks. */
const blocks = "00 0f";

/** The JPEG. */
export const greyPicture: Buffer = bytesOf(
  `ff d8 ${quantization} ${frame} ${huffman("00")} ${huffman("10")} ${scan} ${blocks} ff d9`,
);
