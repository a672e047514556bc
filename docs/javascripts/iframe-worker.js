// A browser starts no worker for a page that it reads from disk; the script of the search runs in a hidden frame there.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner.importScripts = (...urls) =>
        urls.reduce((last, source) => last.then(() => this.load(source)), Promise.resolve());
      this.ready = this.load(url);
    }

    load(source) {
      return new Promise((resolve, reject) => {
        const script = this.inner.document.createElement("script");
        script.src = source;
        script.onload = resolve;
        script.onerror = reject;
        this.inner.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
