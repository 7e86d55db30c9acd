import "@angular/compiler";
import "zone.js";
import { AsyncPipe } from "@angular/common";
import { HttpClient, provideHttpClient } from "@angular/common/http";
import { Component, inject, OnInit, provideZoneChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { Observable } from "rxjs";

interface Sheet {
  number: string;
  place: string;
}

@Component({
  selector: "app-root",
  imports: [AsyncPipe],
  template: `
    @if (sheet$ | async; as sheet) {
      <h1>Herbarium sheet {{ sheet.number }}</h1>
      <p>Collected at {{ sheet.place }}</p>
    } @else {
      <p>Fetching sheet</p>
    }
  `,
})
class Root implements OnInit {
  private http = inject(HttpClient);
  sheet$?: Observable<Sheet>;

  ngOnInit() {
    this.sheet$ = this.http.get<Sheet>("/api/angular-jit/sheet");
  }
}

bootstrapApplication(Root, { providers: [provideHttpClient(), provideZoneChangeDetection()] });
