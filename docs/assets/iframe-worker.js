// A page opened as a file may not start a worker. The search then runs in a hidden frame, which speaks like one.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.listeners = [];
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      this.hear = undefined;
      inside.addEventListener = (kind, listener) => kind === "message" && (this.hear = listener);
      inside.postMessage = (data) => this.listeners.forEach((listener) => listener({ data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((address) => this.load(address)));
      this.load(url).then(() => this.waiting.splice(0).forEach((data) => this.hear({ data })));
    }

    load(address) {
      return new Promise((loaded, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = new URL(address, location.href).href;
        script.onload = loaded;
        script.onerror = failed;
        this.frame.contentDocument.body.appendChild(script);
      });
    }

    addEventListener(kind, listener) {
      if (kind === "message") this.listeners.push(listener);
    }

    removeEventListener(kind, listener) {
      this.listeners = this.listeners.filter((own) => own !== listener);
    }

    postMessage(data) {
      if (this.hear) this.hear({ data });
      else this.waiting.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
