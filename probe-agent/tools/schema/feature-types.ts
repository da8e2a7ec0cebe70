/** Splits a text into names of types, which are separated by white space. */
function types(names: string): readonly string[] {
  return names.trim().split(/\s+/);
}

/** Article and its subtypes in schema.org. */
export const ARTICLES = types(`
  Article NewsArticle BlogPosting AdvertiserContentArticle AnalysisNewsArticle AskPublicNewsArticle
  OpinionNewsArticle ReportageNewsArticle ReviewNewsArticle BackgroundNewsArticle TechArticle ScholarlyArticle
  MedicalScholarlyArticle Report SatiricalArticle LiveBlogPosting
`);

/** Event and its subtypes, except the types of broadcasts and deliveries. */
export const EVENTS = types(`
  Event BusinessEvent ChildrensEvent ComedyEvent ConferenceEvent CourseInstance DanceEvent EducationEvent
  EventSeries ExhibitionEvent Festival FoodEvent Hackathon LiteraryEvent MusicEvent SaleEvent ScreeningEvent
  SocialEvent SportsEvent TheaterEvent VisualArtsEvent
`);

/** LocalBusiness and its subtypes. */
export const BUSINESSES = types(`
  LocalBusiness AccountingService AdultEntertainment AmusementPark AnimalShelter ArchiveOrganization ArtGallery
  Attorney AutoBodyShop AutoDealer AutoPartsStore AutoRental AutoRepair AutoWash AutomatedTeller
  AutomotiveBusiness Bakery BankOrCreditUnion BarOrPub BeautySalon BedAndBreakfast BikeStore BookStore
  BowlingAlley Brewery CafeOrCoffeeShop Campground Casino ChildCare ClothingStore ComedyClub CommunityHealth
  ComputerStore ConvenienceStore CovidTestingFacility DaySpa Dentist DepartmentStore Dermatology DietNutrition
  Distillery DryCleaningOrLaundry Electrician ElectronicsStore Emergency EmergencyService EmploymentAgency
  EntertainmentBusiness ExerciseGym FastFoodRestaurant FinancialService FireStation Florist FoodEstablishment
  FurnitureStore GardenStore GasStation GeneralContractor Geriatric GolfCourse GovernmentOffice GroceryStore
  Gynecologic HVACBusiness HairSalon HardwareStore HealthAndBeautyBusiness HealthClub HobbyShop
  HomeAndConstructionBusiness HomeGoodsStore Hospital Hostel Hotel HousePainter IceCreamShop IndividualPhysician
  InsuranceAgency InternetCafe JewelryStore LegalService Library LiquorStore Locksmith LodgingBusiness
  MedicalBusiness MedicalClinic MedicalSpa MensClothingStore Midwifery MobilePhoneStore Motel MotorcycleDealer
  MotorcycleRepair MovieRentalStore MovieTheater MovingCompany MusicStore NailSalon NightClub Notary Nursing
  Obstetric OfficeEquipmentStore Oncologic Optician Optometric Otolaryngologic OutletStore PawnShop Pediatric
  PetStore Pharmacy Physician PhysiciansOffice Physiotherapy PlasticSurgery Plumber Podiatric PoliceStation
  PostOffice PrimaryCare ProfessionalService Psychiatric PublicHealth PublicSwimmingPool RVPark RadioStation
  RealEstateAgent RecyclingCenter Resort Restaurant RoofingContractor SelfStorage ShoeStore ShoppingCenter
  SkiResort SportingGoodsStore SportsActivityLocation SportsClub StadiumOrArena Store TattooParlor TelevisionStation
  TennisComplex TireShop TouristInformationCenter ToyStore TravelAgency VacationRental VeterinaryCare
  WholesaleStore Winery
`);

/** Organization and its subtypes, except LocalBusiness and its subtypes. */
export const ORGANIZATIONS = types(`
  Organization OnlineBusiness OnlineStore OnlineMarketplace Corporation Cooperative NGO EducationalOrganization
  CollegeOrUniversity School ElementarySchool HighSchool MiddleSchool Preschool FundingAgency FundingScheme
  GovernmentOrganization LibrarySystem NewsMediaOrganization MedicalOrganization DiagnosticLab PerformingGroup
  DanceGroup MusicGroup TheaterGroup PoliticalParty Project ResearchProject SearchRescueOrganization
  SportsOrganization SportsTeam Airline Consortium ResearchOrganization WorkersUnion
`);

/**
 * Product and its subtypes, except vehicles: Google does not treat a vehicle as a product (its page "product snippet",
 * guidelines).
 */
export const PRODUCTS = types(`
  Product IndividualProduct ProductModel SomeProducts
`);

/**
 * Types of applications that have a rich result. A VideoGame must also have one of them (Google's page "software app",
 * subtypes).
 */
export const APPS = types(`SoftwareApplication MobileApplication WebApplication`);

/** Types that can be behind a paywall (Google's page "subscription and paywalled content", supported types). */
export const PAYWALLED = [...ARTICLES, ...types(`CreativeWork Blog Comment Course HowTo Message Review WebPage`)];

/** Types whose ratings Google shows, and that have no table of requirements. */
export const RATED_ONLY = types(`
  Book Audiobook CreativeWorkSeason PodcastSeason RadioSeason TVSeason CreativeWorkSeries BookSeries ComicSeries
  MovieSeries Newspaper Periodical PodcastSeries RadioSeries TVSeries VideoGameSeries Episode PodcastEpisode
  RadioEpisode TVEpisode Game VideoGame MediaObject AudioObject MusicPlaylist MusicAlbum MusicRelease MusicRecording
`);

/** Types that a review can be about, with their subtypes (Google's page "review snippet", valid types). */
export const REVIEWED: ReadonlySet<string> = new Set([
  ...RATED_ONLY,
  ...EVENTS,
  ...BUSINESSES,
  ...ORGANIZATIONS,
  ...PRODUCTS,
  ...APPS,
  ...types(`Course HowTo Recipe Movie ImageObject VideoObject ProductGroup Vehicle Car Motorcycle`),
]);
