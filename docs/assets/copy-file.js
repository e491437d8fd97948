/* <copy-file></copy-file> behind a link is a button that copies the text of the linked file. */
async function text(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw answer;
  return new Blob([await answer.text()], { type: "text/plain" });
}

class CopyFile extends HTMLElement {
  connectedCallback() {
    const { href } = this.previousElementSibling;
    this.innerHTML = '<button type="button">Copy</button> <span role="status"></span>';
    const [button, status] = this.children;
    button.ariaLabel = `Copy ${href.split("/").pop()}`;
    button.onclick = async () => {
      status.textContent = "";
      try {
        // Some browsers refuse once the click is long ago.
        await navigator.clipboard.write([new ClipboardItem({ "text/plain": text(href) })]);
        status.textContent = "copied";
      } catch {
        status.textContent = "not copied; use the link";
      }
    };
  }
}

if (!customElements.get("copy-file")) customElements.define("copy-file", CopyFile);
