import "@angular/compiler";
import { Component, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";

@Component({
  selector: "app-ledger",
  template: "<p>Deferred ledger: {{ entries() }} entries</p>",
})
class Ledger {
  entries = signal(96);
}

@Component({
  selector: "app-root",
  imports: [Ledger],
  template: `
    <h1>{{ title() }}</h1>
    @defer (on idle) {
      <app-ledger />
    } @placeholder (minimum 600ms) {
      <p>Placeholder ledger</p>
    }
  `,
})
class Root {
  title = signal("Ledger");
}

bootstrapApplication(Root, { providers: [provideZonelessChangeDetection()] });
