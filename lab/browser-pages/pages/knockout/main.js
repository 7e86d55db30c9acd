class Parcels {
  parcels = ko.observableArray([]);
  sum = ko.computed(() => this.parcels().reduce((sum, parcel) => sum + parcel.weight, 0));

  async load() {
    const answer = await fetch("/api/knockout/parcels");
    this.parcels(await answer.json());
  }
}

const parcels = new Parcels();
ko.applyBindings(parcels);
parcels.load();
