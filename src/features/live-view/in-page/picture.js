/** Draws the pictures, and tells which point of the page is under a point of the screen. The bytes: src/features/live-view/agent/messages.ts. */

const headBytes = 8;

/** @param {HTMLCanvasElement} canvas @param {(frame: number) => void} onDrawn called when the next picture may come */
export const createPicture = (canvas, onDrawn) => {
  const context = canvas.getContext("2d");
  let page = { width: 0, height: 0 };
  let isShown = false;

  return {
    /** @param {ArrayBuffer} bytes */
    async draw(bytes) {
      const head = new DataView(bytes, 0, headBytes);
      const frame = head.getUint32(0);
      try {
        const image = await createImageBitmap(new Blob([new Uint8Array(bytes, headBytes)], { type: "image/jpeg" }));
        page = { width: head.getUint16(4), height: head.getUint16(6) };
        if (canvas.width !== image.width || canvas.height !== image.height) {
          canvas.width = image.width;
          canvas.height = image.height;
        }
        if (isShown) context?.drawImage(image, 0, 0);
        image.close();
      } finally {
        onDrawn(frame);
      }
    },
    /** Whether pictures are drawn; without them the screen is empty. @param {boolean} shown */
    show(shown) {
      isShown = shown;
      if (!shown) context?.clearRect(0, 0, canvas.width, canvas.height);
    },
    /** The point of the page at a place of the window, also outside of the picture. @param {{ clientX: number, clientY: number }} place */
    pointAt({ clientX, clientY }) {
      const box = canvas.getBoundingClientRect();
      // As `object-fit: contain` does it.
      const scale = Math.min(box.width / (page.width || 1), box.height / (page.height || 1)) || 1;
      const left = box.left + (box.width - page.width * scale) / 2;
      const top = box.top + (box.height - page.height * scale) / 2;
      const round = (/** @type {number} */ value) => Math.round(value * 100) / 100;
      return { x: round((clientX - left) / scale), y: round((clientY - top) / scale), scale };
    },
  };
};
